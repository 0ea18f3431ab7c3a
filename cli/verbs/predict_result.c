/* predict_result.c -- what stands in the JSON of predictions. */
#include "latent.h"

static const cr_field prediction[] = {
    CR_MEASURE("mean", "target", CR_FIELD_EITHER,
               "of a number: its predictive mean; null for a row left out"),
    CR_MEASURE("sd", "target", CR_FIELD_EITHER,
               "of a number: predictive standard deviation; null if infinite"),
    CR_MEASURE("lower", "target", CR_FIELD_EITHER, "of a number: lower end of the interval"),
    CR_MEASURE("upper", "target", CR_FIELD_EITHER, "of a number: upper end of the interval"),
    CR_MEASURE("median", "target", CR_FIELD_EITHER,
               "with --transform-target, of a number: its predictive median; null if infinite"),
    CR_MEASURE("mean_lower", "target", CR_FIELD_EITHER,
               "with --interval, of a model that knows it: lower end of the interval for the mean"),
    CR_MEASURE("mean_upper", "target", CR_FIELD_EITHER,
               "with --interval: its upper end; null if infinite"),
    CR_NUMBER("leverage", CR_FIELD_EITHER,
              "influence of the row on its own prediction, with --leverage"),
    CR_NUMBER("dof", CR_FIELD_EITHER,
              "of a number: degrees of freedom; null for a normal distribution"),
    CR_OTHER(NUMBERS, "parameters", CR_FIELD_SOMETIMES,
             "of a number: parameters of its distribution, if the result names one"),
    CR_TEXT("label", CR_FIELD_EITHER, "of a class: the most probable; null for a row left out"),
    CR_TEXT("cluster", CR_FIELD_EITHER,
            "of a cluster: the most probable, or the nearest; null for a row left out"),
    CR_TEXT("state", CR_FIELD_EITHER,
            "of a sequence: the most probable state of the row, or that of the most probable path; "
            "null for a row left out"),
    CR_MEASURE("log_path", "nats", CR_FIELD_EITHER,
               "with --decode viterbi: the log probability of the path of the row's sequence, with "
               "its rows or, of classes, given them"),
    CR_MEASURE("path_entropy", "nats", CR_FIELD_SOMETIMES,
               "with --decode viterbi: the entropy of the posterior over all paths of the row's "
               "sequence: 0 where only one is possible"),
    CR_COUNT("path", CR_FIELD_SOMETIMES,
             "with --paths: which path, 1 being the most probable of its sequence"),
    CR_COUNT("row", CR_FIELD_SOMETIMES, "with --paths: which row of the data"),
    CR_TEXT("sequence", CR_FIELD_SOMETIMES, "with --ahead: the sequence, if there are several"),
    CR_COUNT("ahead", CR_FIELD_SOMETIMES, "with --ahead: how many rows behind the last"),
    CR_OTHER(
        NUMBERS, "time", CR_FIELD_SOMETIMES,
        "with --ahead: the time of the row, where those of the data tell, under the name of its "
        "column; of dates a text"),
    CR_OTHER(NUMBERS, "column_mean", CR_FIELD_SOMETIMES,
             "with --ahead, of hidden states: the mean of each column that is a number"),
    CR_OTHER(NUMBERS, "column_sd", CR_FIELD_SOMETIMES, "likewise: its standard deviation"),
    CR_OTHER(NUMBERS, "column_lower", CR_FIELD_SOMETIMES, "likewise: lower end of its interval"),
    CR_OTHER(NUMBERS, "column_upper", CR_FIELD_SOMETIMES, "likewise: upper end"),
    CR_OTHER(NUMBERS, "p", CR_FIELD_SOMETIMES, "of a class or cluster: the probability of each"),
    CR_NUMBER("decision", CR_FIELD_EITHER,
              "of a classifier that decides by the sign of a function: its value, above 0 for the "
              "second class; null for a row left out"),
    CR_OTHER(NUMBERS, "decisions", CR_FIELD_SOMETIMES,
             "of such a classifier with more than two classes: the value of each machine, above 0 "
             "for the first class it is named after"),
    CR_OTHER(NUMBERS, "distances", CR_FIELD_SOMETIMES,
             "of clusters around centres: the distance to each centre, in the units of the columns "
             "as scaled"),
    CR_OTHER(NUMBERS, "p_lower", CR_FIELD_SOMETIMES,
             "with --interval: lower end of the interval of each probability"),
    CR_OTHER(NUMBERS, "p_upper", CR_FIELD_SOMETIMES, "with --interval: its upper end"),
    CR_OTHER(NUMBERS, "coordinates", CR_FIELD_SOMETIMES,
             "of coordinates, or with --coordinates: each by name"),
    CR_MEASURE(
        "log_density", "nats", CR_FIELD_EITHER,
        "of a density, or with --log-joint: its logarithm at the row; null for a row left out"),
    CR_OTHER(NUMBERS, "log_joint", CR_FIELD_SOMETIMES,
             "with --log-joint: the logarithm of the joint density of the row and each class"),
    CR_TEXT("column", CR_FIELD_SOMETIMES, "without DATA: the column"),
    CR_TEXT("level", CR_FIELD_SOMETIMES, "without DATA, of categories: a level of the column"),
    CR_NUMBER("probability", CR_FIELD_SOMETIMES, "probability that the next row has it"),
    CR_OTHER(VALUES, "id", CR_FIELD_SOMETIMES, "columns copied from the data, with --id"),
    CR_OTHER(ANY, "action", CR_FIELD_SOMETIMES,
             "with --loss: the action of least expected loss, a number or the name of a class or "
             "action; "
             "null for a row left out"),
    CR_NUMBER("expected_loss", CR_FIELD_EITHER,
              "with --loss: the expected loss of that action; null if infinite"),
    CR_OTHER(NUMBERS, "reconstruction", CR_FIELD_SOMETIMES,
             "with --reconstruct: the columns of the reconstructed row"),
    CR_NUMBER("reconstruction_distance", CR_FIELD_EITHER,
              "with --reconstruct: distance of that row from the coordinates in the space of the "
              "kernel; null for a row left out"),
    CR_OTHER(NUMBERS, "parts", CR_FIELD_SOMETIMES,
             "with --parts: each part of the sum that the mean is"),
    CR_OTHER(NUMBERS, "parts_sd", CR_FIELD_SOMETIMES, "with --parts: their standard deviations"),
    CR_OTHER(NUMBERS, "slopes", CR_FIELD_SOMETIMES,
             "with --slopes: the derivative of the mean with respect to each column"),
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
