"""Models of the Hugging Face hub by their id: what a download would bring, the download, and the cache of them.

No page is known here, and no weight is read: files that have arrived are loaded like any other folder.
"""

from model.loading.hub.background import DownloadStopped
from model.loading.hub.cached_models import (
    CachedModel,
    cached,
    cached_folder,
    cached_folders,
    delete,
    mark_used,
    unfinished,
)
from model.loading.hub.client import NotOnHub, Offline
from model.loading.hub.downloads import download
from model.loading.hub.listings import Listing, NoSafetensors, listing
from model.loading.hub.names import MAIN, HubName, parse_hub_name
from model.loading.hub.repositories import HubFile
from model.loading.hub.terminal import obtained

__all__ = [
    "MAIN",
    "CachedModel",
    "DownloadStopped",
    "HubFile",
    "HubName",
    "Listing",
    "NoSafetensors",
    "NotOnHub",
    "Offline",
    "cached",
    "cached_folder",
    "cached_folders",
    "delete",
    "download",
    "listing",
    "mark_used",
    "obtained",
    "parse_hub_name",
    "unfinished",
]
