"""The pictures of the README: python -m docs.screenshots"""

from pathlib import Path

from tests.running import chromium, picture_shown, running_app, visitor

FOLDER = Path(__file__).parent


def main() -> None:
    with running_app() as (address, _), chromium(shell=False) as browser:
        for theme in ("light", "dark"):
            with visitor(browser, dark=theme == "dark", width=1366, height=768) as page:
                page.goto(address)
                picture_shown(page)
                page.get_by_text("Forbid looking at").first.wait_for()  # what comes after the picture
                page.wait_for_timeout(1500)
                page.screenshot(path=FOLDER / f"explore-{theme}.png")


if __name__ == "__main__":
    main()
