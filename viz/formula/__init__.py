"""The formula of a model, from its config, and what the browser draws of it: one renderer for all pages."""

from viz.formula.notation import Group, Line, Site, Term, formula
from viz.formula.switches import Switch, has_step, with_step, with_switches

__all__ = ["Group", "Line", "Site", "Switch", "Term", "formula", "has_step", "with_step", "with_switches"]
