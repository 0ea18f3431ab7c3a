/* predict_result.c -- what stands in the JSON of predictions. */
#include "latent.h"

static const cr_field prediction[] = {
    CR_MEASURE("mean", "target", CR_FIELD_EITHER,
               "of a number: its predictive mean; null for a row left out"),
    CR_MEASURE("sd", "target", CR_FIELD_EITHER,
               "of a number: predictive standard deviation; null if infinite"),
    CR_MEASURE("lower", "target", CR_FIELD_EITHER, "of a number: lower end of the interval"),
    CR_MEASURE("upper", "target", CR_FIELD_EITHER, "of a number: upper end of the interval"),
    CR_MEASURE("mean_lower", "target", CR_FIELD_EITHER,
               "with --interval, of a glm: lower end of the interval of the mean itself"),
    CR_MEASURE("mean_upper", "target", CR_FIELD_EITHER,
               "with --interval, of a glm: its upper end; null if infinite"),
    CR_NUMBER("leverage", CR_FIELD_EITHER, "weight of the row in its own fit, with --leverage"),
    CR_NUMBER("dof", CR_FIELD_EITHER,
              "of a number: degrees of freedom; null for a normal distribution"),
    CR_OTHER(NUMBERS, "parameters", CR_FIELD_SOMETIMES,
             "of a number: those of its distribution, where the result names one"),
    CR_TEXT("label", CR_FIELD_EITHER, "of a class: the most probable; null for a row left out"),
    CR_TEXT("cluster", CR_FIELD_EITHER, "of a cluster: the most probable; null for a row left out"),
    CR_OTHER(NUMBERS, "p", CR_FIELD_SOMETIMES, "of a class or cluster: the probability of each"),
    CR_OTHER(NUMBERS, "p_lower", CR_FIELD_SOMETIMES,
             "with --interval: the lower end of the interval of each probability"),
    CR_OTHER(NUMBERS, "p_upper", CR_FIELD_SOMETIMES, "with --interval: its upper end"),
    CR_OTHER(NUMBERS, "coordinates", CR_FIELD_SOMETIMES,
             "of coordinates, or with --coordinates: each by its name"),
    CR_MEASURE(
        "log_density", "nats", CR_FIELD_EITHER,
        "of a density, or with --log-joint: its logarithm at the row; null for a row left out"),
    CR_OTHER(NUMBERS, "log_joint", CR_FIELD_SOMETIMES,
             "with --log-joint: the logarithm of the joint density of the row and each class"),
    CR_TEXT("column", CR_FIELD_SOMETIMES, "without DATA: the column that it is about"),
    CR_TEXT("level", CR_FIELD_SOMETIMES, "without DATA, of categories: a level of the column"),
    CR_NUMBER("probability", CR_FIELD_SOMETIMES, "that the next row has it"),
    CR_OTHER(VALUES, "id", CR_FIELD_SOMETIMES, "columns of the data carried along, with --id"),
    CR_OTHER(ANY, "action", CR_FIELD_SOMETIMES,
             "with --loss: the action of least expected loss, a number or the name of a class or "
             "action; "
             "null for a row left out"),
    CR_NUMBER("expected_loss", CR_FIELD_EITHER,
              "with --loss: the expected loss of that action; null if infinite"),
    CR_OTHER(NUMBERS, "reconstruction", CR_FIELD_SOMETIMES,
             "with --reconstruct: the columns of the row that the coordinates lead back to"),
    CR_NUMBER(
        "reconstruction_distance", CR_FIELD_EITHER,
        "with --reconstruct: how far that row is from them in the space of the kernel; null for "
        "a row left out"),
    CR_OTHER(NUMBERS, "slopes", CR_FIELD_SOMETIMES,
             "with --slopes: the derivative of the mean by each column"),
    CR_OTHER(ANY, "draws", CR_FIELD_SOMETIMES,
             "with --draws: an array of draws, numbers or the names of classes"),
    CR_FIELD_LAST,
};

const cr_field predict_result[] = {
    CR_TEXT("model", 0, "name of the model"),
    CR_COUNT("rows", 0, "rows of the data"),
    CR_NUMBER("interval", 0, "mass of the central interval"),
    CR_COUNT("seed", 0, "random seed; of the draws with --draws"),
    CR_TEXT("distribution", CR_FIELD_SOMETIMES,
            "of numbers that are neither normal nor Student's: the name of their distribution"),
    CR_TEXT("loss", CR_FIELD_SOMETIMES, "with --loss: the loss, as it was given"),
    CR_INNER(ROWS, "predictions", 0, "one for each row, in order", prediction),
    CR_FIELD_LAST,
};
