"""Objectives: differentiable losses with their own data, one file each.

New objective: one file here with `@objectives.register("name")` on a class that has the methods of
`interlingua.training.loop.Objective`.
"""

from interlingua.registry import Registry

objectives = Registry("objective", "interlingua.objectives")
