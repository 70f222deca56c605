"""The browser's modules as they are joined: what one imports stands before it, and no two share a name."""

import re
from collections import Counter
from pathlib import Path

import pytest

from viz.explorer import layout, source

SCRIPTS = [
    (*source.MODULES, "streamlit"),
    (*source.MODULES, "standalone"),
    ("element", "paint", "comparison"),
    ("element", "paint", "tables"),
]
ROOT = Path(__file__).parents[3]
SCRIPTS_OF_PAGES = sorted([*(ROOT / "pages").rglob("*.js"), *(ROOT / "viz/formula").glob("*.js")])
BESIDE = [path for path in SCRIPTS_OF_PAGES if "export default" not in path.read_text(encoding="utf-8")]
COMPONENTS = [path for path in SCRIPTS_OF_PAGES if path not in BESIDE]
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./]+)\.js"$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:const|class|(?:async )?function) (\w+)", re.MULTILINE)
TOP = re.compile(r"^(?:export )?(?:const|let|class|(?:async )?function) (\w+|[\[{][\w, ]+[\]}])", re.MULTILINE)


def text_of(module: str) -> str:
    return (source.FOLDER / f"{module}.js").read_text(encoding="utf-8")


def imported(module: str) -> list[tuple[str, set[str]]]:
    """The modules that one imports from, by their names in ``source``, and what it takes of each."""
    folder = (source.FOLDER / module).parent
    return [
        ((folder / other).resolve().relative_to(source.FOLDER).as_posix(), set(re.findall(r"\w+", names)))
        for names, other in IMPORT.findall(text_of(module))
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script[-1])
def test_what_a_module_imports_stands_before_it_and_exists(script):
    for place, module in enumerate(script):
        for other, names in imported(module):
            if other == "layout":
                assert names <= {"THEMES", *layout.constants()}, module
            else:
                assert other in script[:place], f"{module} imports {other}"
                assert names <= set(EXPORT.findall(text_of(other))), f"{module} imports {other}"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script[-1])
def test_no_name_at_the_top_of_a_module_is_that_of_another(script):
    names = Counter(["THEMES", *layout.constants()])
    for module in script:
        names.update(name for declaration in TOP.findall(text_of(module)) for name in re.findall(r"\w+", declaration))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script[-1])
def test_nothing_of_an_import_is_left_in_a_joined_script(script):
    joined = source.joined_modules(*script)
    assert re.findall(r"^import\b.*", joined, flags=re.MULTILINE) == []
    assert re.findall(r"^export (?!default).*", joined, flags=re.MULTILINE) == []


@pytest.mark.parametrize("path", COMPONENTS, ids=lambda path: path.stem)
def test_a_component_imports_what_makes_elements_and_colours_or_stands_beside_it_and_has_it_in_front(path):
    text, script = path.read_text(encoding="utf-8"), source.with_element(path)
    imports = re.findall(r'^import \{([^}]*)\} from "(.*)"$', text, flags=re.MULTILINE)
    modules = {(path.parent / file).resolve() for _, file in imports}
    assert modules <= {source.FOLDER / f"{name}.js" for name in ("element", "paint")} | set(BESIDE)
    for names, file in imports:
        exported = EXPORT.findall((path.parent / file).resolve().read_text(encoding="utf-8"))
        assert set(re.findall(r"\w+", names)) <= set(exported)
    assert script.count("function el(") == (source.FOLDER / "element.js" in modules)
    assert script.count("function picture(") == (source.FOLDER / "paint.js" in modules)
    assert len(re.findall(r"^export", script, flags=re.MULTILINE)) == 1
    assert bool(re.search(r"\bel\(", text)) == (source.FOLDER / "element.js" in modules)
    assert not re.search(r"^import\b", script, flags=re.MULTILINE)


@pytest.mark.parametrize("path", COMPONENTS, ids=lambda path: path.stem)
def test_no_name_at_the_top_of_a_component_is_that_of_what_stands_before_it(path):
    declarations = TOP.findall(source.with_element(path))
    names = Counter(name for declaration in declarations for name in re.findall(r"\w+", declaration))
    assert [name for name, times in names.items() if times > 1] == []


def test_the_type_check_knows_the_constants_of_layout_and_no_others():
    declared = (source.FOLDER / "layout.d.ts").read_text(encoding="utf-8")
    lines = [f"export const {name}: {type_of(value)}" for name, value in layout.constants().items()]
    assert re.findall(r"^export const (?!THEMES).*$", declared, flags=re.MULTILINE) == lines


def type_of(value: object) -> str:
    """A constant's type in TypeScript."""
    if isinstance(value, dict):
        return f"{{ {'; '.join(f'{name}: {type_of(of_it)}' for name, of_it in value.items())} }}"
    if isinstance(value, tuple):
        return "number[][]" if isinstance(value[0], tuple) else f"[{', '.join(map(type_of, value))}]"
    return "string" if isinstance(value, str) else "number"


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: path.stem)
def test_a_module_beside_a_component_imports_nothing_and_is_used(path):
    assert not re.search(r"^import\b", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert any(f'"./{path.name}"' in one.read_text(encoding="utf-8") for one in path.parent.glob("*.js"))
