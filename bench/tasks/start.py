"""Starting up: the whole process is the work."""
from harness import Task, python

TASKS = [
    Task(name="start", about="start the program, against importing scikit-learn",
         ours=["{build}/credence", "--version"], peer=python("\nimport sklearn\n"),
         needs=("sklearn",), clock="wall", limit=0.005, threads=1),
]
