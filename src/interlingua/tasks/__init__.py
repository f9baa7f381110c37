"""Tasks: labelled examples, a head, a predictor and a judge, one file each.

A task is a frozen dataclass whose fields are its settings, registered under its name. It says what it `needs`:

| needs     | what it is given                                                                              |
|-----------|-----------------------------------------------------------------------------------------------|
| `head`    | a `TaskModel` trained on its examples; it has the methods of `interlingua.training.task.Task`  |
| `encoder` | an `Encoder` alone: nothing is trained                                                         |

New task: one file here with `@tasks.register("name", needs="head")`. Scores of a task have in `items` what each
example adds to the mean, or in `details` the counts of each example that an F1 is made of.
"""

from interlingua.registry import Registry

tasks = Registry("task", "interlingua.tasks")
