"""How the page Inside a head names a step of the walk."""

from viz.walkthrough.step_sentences import TITLES


def heading(step: str) -> str:
    """ "Step 8 of 18: softmax"."""
    return f"Step {list(TITLES).index(step) + 1} of {len(TITLES)}: {TITLES[step]}"
