"""The pictures of the README: python -m docs.screenshots"""

from pathlib import Path

from tests.running import chromium, picture_shown, running_app, visitor

FOLDER = Path(__file__).parent
VIEW = "layer=3&off=3.1_3.5&query=3"


def main() -> None:
    with running_app() as (address, _), chromium() as browser:
        for theme in ("light", "dark"):
            with visitor(browser, dark=theme == "dark", width=1440, height=1120) as page:
                page.goto(f"{address}/?{VIEW}")
                picture_shown(page)
                page.wait_for_timeout(1500)  # the exact number of the token that is kept arrives after a rest
                page.screenshot(path=FOLDER / f"explore-{theme}.png")


if __name__ == "__main__":
    main()
