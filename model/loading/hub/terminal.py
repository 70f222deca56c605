"""A model by its name for whoever works in a terminal or a notebook: from the cache, or downloaded under a bar."""

from pathlib import Path

from model.loading.hub.background import never
from model.loading.hub.cached_models import cached_folder, mark_used
from model.loading.hub.downloads import download
from model.loading.hub.listings import listing
from model.loading.hub.names import HubName


def obtained(name: HubName) -> Path:
    """The folder of a model. What is in the cache is taken from there, and the hub is not asked."""
    folder = cached_folder(name) or downloaded(name)
    mark_used(folder)
    return folder


def downloaded(name: HubName) -> Path:
    """The folder of a model, once all of it is here."""
    from tqdm import tqdm

    listed = listing(name)
    with tqdm(total=listed.bytes, unit="B", unit_scale=True, desc=str(name)) as bar:

        def show(arrived: int, _total: int) -> None:
            bar.update(arrived - bar.n)

        return download(listed, progress=show, stop=never)
