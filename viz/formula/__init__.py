"""The formula of a model, from its config, and what the browser draws of it: one renderer for all pages."""

from viz.formula.notation import EquationGroup, FormulaTerm, Line, Site, formula
from viz.formula.switches import Switch, has_step, with_step, with_switches

__all__ = [
    "EquationGroup",
    "FormulaTerm",
    "Line",
    "Site",
    "Switch",
    "formula",
    "has_step",
    "with_step",
    "with_switches",
]
