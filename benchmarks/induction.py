"""How long two layers take to learn induction to 99 %, and how far one layer gets in the same steps.

    python -m benchmarks.induction
    python -m benchmarks.induction --seeds 0 1 2 --steps 1000

Each training runs as the app runs it, in a process of its own on one thread, so that two cores train two at once. The
seconds are those from its start to the first moment with 99 % of the answers on fresh sequences right, the start of
Python and all measuring included. A layer alone cannot form an induction head (Olsson et al. 2022, "In-context Learning
and Induction Heads").
"""

import argparse
import time
from itertools import product

from model.training.watched.run_settings import RunSettings
from model.training.watched.trainer_process import Trainer

RIGHT = 0.99


def seconds_to(trainer: Trainer, accuracy: float) -> float | None:
    """Until a moment is as good as this; None where none was."""
    began = time.monotonic()
    while not trainer.is_over:
        if trainer.history.moments and trainer.history.last.accuracy >= accuracy:
            return time.monotonic() - began
        time.sleep(0.05)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=RunSettings().steps)
    options = parser.parse_args()
    for seed, layers in product(options.seeds, (2, 1)):
        trainer = Trainer(RunSettings(layers=layers, steps=options.steps, seed=seed))
        seconds = seconds_to(trainer, RIGHT)
        trainer.wait()
        last = trainer.history.last
        scores = last.scores["induction"].scores.max() if last.scores else 0.0
        reached = f"99 % after {seconds:.1f} s" if seconds is not None else "99 % never"
        result = (
            f"{reached}; {100 * last.accuracy:.2f} % after {last.step:,} steps, highest induction score {scores:.2f}"
        )
        print(f"seed {seed}, {layers} layer{'s' * (layers > 1)}: {result}", flush=True)


if __name__ == "__main__":
    main()
