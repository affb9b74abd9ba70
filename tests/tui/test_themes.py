"""What the app looks like: the shipped themes can be read, and a wrong one is told and harms nothing."""

import os
import tomllib
from pathlib import Path

import pytest
from rich.color import ColorTriplet
from rich.style import Style
from textual._ansi_theme import ALABASTER, MONOKAI
from textual.app import App, ComposeResult
from textual.color import Color
from textual.geometry import Offset
from textual.selection import Selection

import agentcli
from agentcli.agent.errors import ConfigError
from agentcli.tui.colors import themes
from agentcli.tui.colors.current_theme import CSS, CurrentTheme, without_color
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.colors.themes import Theme
from agentcli.tui.terminal.background import background_by_environment
from agentcli.tui.widgets.editor import Editor
from agentcli.tui.widgets.transcript import Transcript
from tests.tui.views import user_text

ROOT = Path(__file__).parents[2]
SHIPPED = {path.stem: path for path in (ROOT / "themes").glob("*.toml")}
MIXED = sorted(name for name, path in SHIPPED.items() if not themes.read(path).is_ansi)
QUIET = {Tone.DIM, Tone.QUOTE, Tone.THINKING, Tone.COMMENT}
SIX = """
dark = true
[colors]
background = "#000000"
foreground = "#ffffff"
primary = "#0000ff"
success = "#00ff00"
warning = "#ffff00"
error = "#ff0000"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The user's folder of themes."""
    folder = tmp_path / "home" / "themes"
    folder.mkdir(parents=True)
    return folder


def find(name: str) -> Theme:
    return themes.read(themes.path_of(name))


def variables(theme: Theme) -> dict[str, str]:
    made = theme.to_textual("it")
    return made.to_color_system().generate() | made.variables


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    """By WCAG 2: from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: ColorTriplet) -> float:
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def rgb(color: str) -> ColorTriplet:
    return ColorTriplet(*bytes.fromhex(color.removeprefix("#")[:6]))


# The shipped themes


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_shipped_theme_is_in_order(name: str) -> None:
    theme = find(name)
    assert (theme.path, theme.warnings) == (SHIPPED[name], [])
    assert theme.label != name
    table = tomllib.loads(theme.path.read_text())
    assert set(table.get("vars", {})) <= set(table["colors"].values()), "a variable that nothing uses"
    if theme.colors.background.startswith("#"):
        assert (_luminance(rgb(theme.colors.background)) < 0.5) == theme.is_dark


@pytest.mark.parametrize("name", MIXED)
def test_every_text_of_a_theme_can_be_read(name: str) -> None:
    theme = find(name)
    palette = Palette(variables(theme))
    text, quiet = (7, 7) if name.startswith("high-contrast") else (4.5, 3)
    for tone in Tone:
        style = palette[tone]
        assert style.color and style.color.triplet and style.bgcolor and style.bgcolor.triplet
        least = quiet if tone in QUIET else text
        assert contrast(style.color.triplet, style.bgcolor.triplet) >= least, tone


@pytest.mark.parametrize("name", MIXED)
def test_what_textual_paints_can_be_read(name: str) -> None:
    """The footer, the placeholder, the frame that has the focus, and text that is selected."""
    made = variables(find(name))
    assert contrast(rgb(made["text-muted"]), rgb(made["background"])) >= 3
    assert contrast(rgb(made["primary"]), rgb(made["background"])) >= 3
    for place in ("screen", "input"):
        assert contrast(rgb(made["foreground"]), rgb(made[f"{place}-selection-background"])) >= 4.5
    assert made["border"] != made["primary"]


@pytest.mark.parametrize(("name", "terminal"), [("ansi", MONOKAI), ("ansi-light", ALABASTER)])
def test_the_terminals_own_colours_are_left_to_it_and_can_be_read_on_usual_ones(name: str, terminal) -> None:
    palette = Palette(variables(find(name)))
    for tone in Tone:
        color, ground = palette[tone].color, palette[tone].bgcolor
        assert color and ground and color.triplet is None and ground.is_default
        assert contrast(color.get_truecolor(terminal), terminal.background_color) >= 3, tone
    assert palette[Tone.DIM].dim and palette[Tone.COMMENT].dim and not palette[Tone.TEXT].dim


def test_the_transparent_theme_has_nothing_behind_any_text() -> None:
    theme = find("transparent")
    assert theme.is_ansi
    assert all(style.bgcolor and style.bgcolor.is_default for style in Palette(variables(theme)).styles.values())


@pytest.mark.parametrize("name", ["colorblind-dark", "colorblind-light"])
def test_a_diff_is_blue_and_orange_for_those_who_cannot_tell_red_from_green(name: str) -> None:
    palette = Palette(variables(find(name)))
    for good, bad in ((Tone.ADDED, Tone.REMOVED), (Tone.OK, Tone.ERROR)):
        for style, is_blue in ((palette[good], True), (palette[bad], False)):
            assert style.color and style.color.triplet
            red, _, blue = style.color.triplet
            assert (blue - red > 60) if is_blue else (red - blue > 60)


def test_the_themes_are_named_in_the_example_and_packed() -> None:
    text = " ".join((ROOT / ".agentcli.example.toml").read_text().split("# "))
    listed = text[text.index("The colours of the app") : text.index('theme = "')]
    assert all(name in listed.replace(",", " ").split() for name in SHIPPED), "name it in the example file"
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["force-include"] == {"themes": "agentcli/themes"}
    assert "/themes" in build["sdist"]["include"]


def test_the_default_theme_says_what_a_theme_may_set() -> None:
    comment = " ".join(line for line in SHIPPED["dark"].read_text().splitlines() if line.startswith("#"))
    words = comment.replace(",", " ").replace(".", " ").split()
    assert set(themes.Colors.__struct_fields__) <= set(words)


def test_the_themes_of_an_installed_agentcli_are_in_the_package(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "site-packages" / "agentcli"
    (package / "themes").mkdir(parents=True)
    (tmp_path / "site-packages" / "themes").mkdir()
    monkeypatch.setattr(agentcli, "__file__", str(package / "__init__.py"))
    assert themes.shipped_folder() == package / "themes"


# One's own


def test_six_colours_are_a_theme_and_ones_own_wins(own: Path) -> None:
    (own / "mine.toml").write_text(SIX)
    (own / "nord.toml").write_text(SIX.replace("dark = true", 'name = "My Nord"\ndark = false'))
    (own / "notes.txt").write_text("no theme")
    assert find("mine").label == "mine"
    assert (find("nord").label, find("nord").is_dark) == ("My Nord", False)
    assert set(themes.available()) == {*SHIPPED, "mine"}
    assert len(Palette(variables(find("mine"))).styles) == len(Tone)


def test_a_colour_is_hex_or_the_terminals_or_a_variable_and_a_tone_has_its_own(own: Path) -> None:
    more = 'keyword = "pale"\nadded_background = "#abc"\nthinking = "ansi_bright_black"\n[vars]\npale = "#010203"\n'
    (own / "mine.toml").write_text(SIX + more)
    palette = Palette(variables(find("mine")))
    keyword, added, thinking = palette[Tone.KEYWORD], palette[Tone.ADDED], palette[Tone.THINKING]
    assert keyword.color and keyword.color.triplet == (1, 2, 3)
    assert added.bgcolor and added.bgcolor.triplet == (0xAA, 0xBB, 0xCC)
    assert thinking.color and thinking.color.number == 8 and thinking.italic


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("dark = yes\n", 1, "Invalid value"),
        ("dark = true\n", 1, "missing required field `colors`"),
        (SIX.replace('primary = "#0000ff"\n', ""), 3, "missing required field `primary`"),
        (SIX.replace("dark = true", ""), 1, "missing required field `dark`"),
        (SIX.replace("#0000ff", "blue"), 6, "colors.primary: 'blue' is no colour; did you mean ansi_blue?"),
        (SIX.replace("#0000ff", "#00ff"), 6, "write #rrggbb"),
        (SIX.replace("#ff0000", "\x1b[31m"), 9, "Illegal character"),
        (SIX.replace('"#ff0000"', "5"), 9, "colors.error: Expected `str"),
        (SIX + 'link = "pail"\n[vars]\npale = "#010203"\n', 10, "did you mean pale?"),
        (SIX + '[vars]\npale = "#01020g"\n', 11, "vars.pale: '#01020g' is no colour"),
        (SIX + "[vars]\npale = 1\n", 11, "vars.pale"),
        (SIX + "[colors]\n", 10, "twice"),
        ("dark = true\ncolors = 5\n", 2, "colors"),
        (b"# caf\xe9\n", 1, "UTF-8"),
        (b"#" * (themes.MAX_BYTES + 1), 1, "larger than"),
    ],
)
def test_a_wrong_theme_is_one_line_that_says_where(own: Path, text: str | bytes, line: int, says: str) -> None:
    file = own / "mine.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as error:
        find("mine")
    assert error.value.message.startswith(f"{file}:{line}: ")
    assert says in error.value.message
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)


def test_unknown_keys_are_warnings_with_the_nearest_name(own: Path) -> None:
    (own / "mine.toml").write_text(SIX + 'lnk = "#000000"\nxyz = 1\n')
    place = own / "mine.toml"
    assert find("mine").warnings == [
        f"{place}:10: unknown key colors.lnk; it is ignored (did you mean link?)",
        f"{place}:11: unknown key colors.xyz; it is ignored",
    ]


@pytest.mark.parametrize(
    ("name", "hint"), [("norrd", "did you mean nord"), ("../nord", "nord"), ("", "there are ansi")]
)
def test_a_theme_that_is_not_there_is_told_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        find(name)
    assert hint in error.value.hint


def test_a_theme_that_cannot_be_read_is_told(own: Path) -> None:
    (own / "mine.toml").symlink_to(own / "mine.toml")
    assert "mine" not in themes.available()
    with pytest.raises(ConfigError, match=r"mine\.toml:1: cannot be read"):
        themes.read(own / "mine.toml")


def test_a_theme_that_is_no_file_is_told_when_it_is_chosen(own: Path) -> None:
    os.mkfifo(own / "mine.toml")
    assert themes.path_of("mine") == own / "mine.toml"
    with pytest.raises(ConfigError, match=r"mine\.toml:1: cannot be read: it is a FIFO"):
        themes.read(own / "mine.toml")


# In the app


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLORFGBG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


class FakeChatApp(App[None]):
    """The widgets of the app and its theme, without a runtime."""

    CSS = CSS

    def __init__(self, setting: str | None = None, is_light: bool | None = None) -> None:
        super().__init__(ansi_color=without_color())
        self.current = CurrentTheme(self, setting, is_light)
        self.told = self.current.start()

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield Editor()

    @property
    def name_of_theme(self) -> str:
        assert self.current.theme is not None
        return self.current.theme.name


@pytest.mark.parametrize(
    ("setting", "is_light", "name"),
    [
        (None, None, "dark"),
        (None, True, "light"),
        ("nord", True, "nord"),
        ("nord/solarized-light", False, "nord"),
        ("nord/solarized-light", True, "solarized-light"),
        ("solarized-light/nord", False, "nord"),
        ("solarized-light / nord", True, "solarized-light"),
        ("nord/gruvbox", True, "gruvbox"),
        ("/", False, "dark"),
    ],
)
def test_of_two_themes_the_one_that_fits_the_terminal_is_shown(setting, is_light, name: str) -> None:
    app = FakeChatApp(setting, is_light)
    assert (app.name_of_theme, app.told) == (name, [])


@pytest.mark.parametrize(
    ("value", "is_light"),
    [("0;15", True), ("15;0", False), ("0;default;15", True), ("12;8", False), ("15;default", None), ("", None)],
)
def test_colorfgbg_says_what_the_background_is(monkeypatch: pytest.MonkeyPatch, value: str, is_light) -> None:
    assert background_by_environment({"COLORFGBG": value}) is is_light
    monkeypatch.setenv("COLORFGBG", value)
    assert FakeChatApp().name_of_theme == ("light" if is_light else "dark")


def test_only_the_file_of_the_theme_is_read_at_the_start(monkeypatch: pytest.MonkeyPatch, own: Path) -> None:
    parsed: list[Path] = []
    parse = themes.parse_toml
    monkeypatch.setattr(themes, "parse_toml", lambda data, path: (parsed.append(path), parse(data, path))[1])
    FakeChatApp()
    assert [path.name for path in parsed] == ["dark.toml"]


@pytest.mark.parametrize(("setting", "says"), [("mine", "mine.toml:2: "), ("norrd", "there is no theme 'norrd'")])
@pytest.mark.parametrize("is_light", [False, True])
def test_a_bad_theme_falls_back_to_the_default_and_is_told(own: Path, setting: str, says: str, is_light: bool) -> None:
    (own / "mine.toml").write_text("dark = true\n=\n")
    (own / "dark.toml").write_text("= broken too")
    app = FakeChatApp(setting, is_light)
    assert app.name_of_theme == ("light" if is_light else "dark")
    assert len(app.told) == 1 and says in app.told[0]


async def test_without_any_theme_there_are_textuals_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agentcli, "__file__", str(tmp_path / "empty" / "agentcli" / "__init__.py"))
    app = FakeChatApp()
    assert len(app.told) == 2 and app.current.theme is None
    async with app.run_test() as pilot:
        await pilot.pause()
        assert app.current.poll() == []


async def test_the_terminals_answer_brings_the_theme_that_fits() -> None:
    async with FakeChatApp("nord/solarized-light").run_test() as pilot:
        app = pilot.app
        assert isinstance(app, FakeChatApp)
        assert app.current.set_background(False) == [] and app.name_of_theme == "nord"
        app.current.set_background(True)
        await pilot.pause()
        assert app.name_of_theme == "solarized-light"
        assert app.current_theme.dark is False
        assert rgb(app.query_one(Editor).styles.background.hex) == rgb("#fdf6e3")


async def test_a_theme_is_tried_kept_and_given_up() -> None:
    async with FakeChatApp("nord").run_test() as pilot:
        app = pilot.app
        assert isinstance(app, FakeChatApp)
        painted: list[str] = []
        app.theme_changed_signal.subscribe(app, lambda theme: painted.append(theme.background or ""))
        assert app.current.preview("gruvbox") == []
        await pilot.pause()
        with pytest.raises(ConfigError):
            app.current.preview("gruvbix")
        assert app.name_of_theme == "gruvbox"
        app.current.restore()
        await pilot.pause()
        assert app.name_of_theme == "nord"
        app.current.choose("dracula")
        app.current.restore()
        await pilot.pause()
        assert app.name_of_theme == "dracula"
        assert painted == ["#282828", "#2e3440", "#282a36"]


async def test_a_theme_that_is_saved_is_shown_at_once_and_a_broken_one_changes_nothing(own: Path) -> None:
    file = own / "mine.toml"
    file.write_text(SIX)
    async with FakeChatApp("mine").run_test() as pilot:
        app = pilot.app
        assert isinstance(app, FakeChatApp)

        def look_twice() -> list[str]:
            return app.current.poll() + app.current.poll()

        assert look_twice() == []
        _save(file, SIX.replace("#000000", "#010203"))
        assert look_twice() == []
        await pilot.pause()
        assert rgb(app.query_one(Editor).styles.background.hex) == (1, 2, 3)
        _save(file, SIX.replace("#000000", "no"))
        assert app.current.poll() == [], "it may be half written"
        (line,) = app.current.poll()
        assert line.startswith(f"{file}:4: colors.background")
        assert look_twice() == [], "it is told once"
        file.unlink()
        assert look_twice() == []
        _save(file, SIX + 'lnk = "#000000"\n')
        (line,) = look_twice()
        assert "unknown key colors.lnk" in line
        await pilot.pause()
        assert rgb(app.query_one(Editor).styles.background.hex) == (0, 0, 0)


async def test_a_theme_that_was_broken_at_the_start_is_shown_once_it_is_mended(own: Path) -> None:
    file = own / "mine.toml"
    file.write_text(SIX + "=")
    async with FakeChatApp("mine").run_test() as pilot:
        app = pilot.app
        assert isinstance(app, FakeChatApp)
        assert app.name_of_theme == "dark" and len(app.told) == 1
        _save(file, SIX + "==")
        assert app.current.poll() == []
        (line,) = app.current.poll()
        assert line.startswith(f"{file}:10: ") and app.name_of_theme == "dark"
        _save(file, SIX)
        assert app.current.poll() + app.current.poll() == []
        assert app.name_of_theme == "mine"


def _save(file: Path, text: str) -> None:
    """As editors do: a new file in its place."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.replace(file)


def _painted(app: App[None]) -> list[tuple[str, Style]]:
    """What the terminal gets: text and styles, after the filters."""
    found: list[tuple[str, Style]] = []
    for strip in app.screen._compositor.render_strips():
        segments = list(strip)
        for each in app.get_line_filters():
            segments = each.apply(segments, Color(0, 0, 0))
        found += [(segment.text, segment.style) for segment in segments if segment.style]
    return found


@pytest.mark.parametrize("setting", ["dark", "light", "ansi", "transparent"])
async def test_without_colour_marks_are_attributes(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    """The cursor, what is selected in the editor and in the transcript, and what is dim."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with FakeChatApp(setting).run_test() as pilot:
        app = pilot.app
        view, editor = app.query_one(Transcript), app.query_one(Editor)
        view.set_palette(Palette(app.get_css_variables()))
        view.append([user_text("said by me")])
        view.show()
        editor.focus()
        await pilot.pause()
        app.screen.selections = {view: Selection(Offset(2, 0), Offset(6, 0))}
        await pilot.pause()
        before = _painted(app)
        editor.put("written")
        await pilot.press("shift+left", "shift+left")
        await pilot.pause()
        after = _painted(app)
    for _, style in (*before, *after):
        assert all(color is None or color.is_default for color in (style.color, style.bgcolor))
    assert {"said", "A"} == {text for text, style in before if style.reverse}
    assert "".join(text for text, style in after if style.reverse) == "en"
    assert all(style.dim for text, style in before if "sk anything" in text)


async def test_on_the_terminals_own_background_no_other_is_painted() -> None:
    async with FakeChatApp("transparent").run_test() as pilot:
        view = pilot.app.query_one(Transcript)
        view.set_palette(Palette(pilot.app.get_css_variables()))
        view.append([user_text("said by me")])
        view.show()
        await pilot.pause()
        painted = _painted(pilot.app)
        assert all(style.bgcolor is None or style.bgcolor.is_default for _, style in painted)
        assert any(style.color.triplet for _, style in painted if style.color)
