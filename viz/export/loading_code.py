"""The lines of a script that load its model: by its name, by the hub's id and commit, or from a folder."""

from pathlib import Path

from model.loading.hub import HubName, parse_hub_name

IMPORT = "from pathlib import Path\n\n"
FOLDER = """\
folder = Path({folder!r})
if not folder.is_dir():
    raise SystemExit({missing})
checkpoint = load_checkpoint(folder)"""
MISSING = (
    "There is no folder {folder}: put the model's files there (config.json, model.safetensors, tokenizer.json), or "
    "name their folder in this script."
)


def loading_code(source: str | Path) -> str:
    """Lines that give ``checkpoint``; ``load_checkpoint`` is imported before them, and for a folder ``Path``.

    source: a name that ``load_checkpoint`` knows, or a folder. Nobody but the visitor has what was uploaded: its folder
    is a relative one, and the script ends with one sentence where it is not there.
    """
    if isinstance(source, Path):
        missing = f"f{MISSING!r}"
        return FOLDER.format(folder=str(source), missing=missing)
    name = pinned(source)
    if name is not None:
        return f"checkpoint = load_checkpoint({name.repo!r}, revision={name.revision!r})"
    return f"checkpoint = load_checkpoint({source!r})"


def loading_import(source: str | Path) -> str:
    """The import that these lines need beside ``load_checkpoint``; "" for none."""
    return IMPORT if isinstance(source, Path) else ""


def pinned(name: str) -> HubName | None:
    """The name as one of the hub, where it names a commit."""
    try:
        hub_name = parse_hub_name(name)
    except ValueError:
        return None
    return hub_name if hub_name.is_pinned else None
