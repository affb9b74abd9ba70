"""CommandGroup: a Typer of ours: plain help, `-h`, and options declared as data."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from agentcli.cli.declare import Argument, Option


class CommandGroup(typer.Typer):
    """Args:
    help: what the commands are about.
    """

    def __init__(self, help: str, **settings: Any) -> None:
        settings.setdefault("no_args_is_help", True)
        settings.setdefault("add_completion", False)
        super().__init__(
            help=help,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
            **settings,
        )

    def command(self, *arguments: Any, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().command(*arguments, **settings)
        return lambda function: register(_for_typer(function))

    def callback(self, *arguments: Any, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        register = super().callback(*arguments, **settings)
        return lambda function: register(_for_typer(function))


def _for_typer(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with our declarations in its annotations in Typer's words."""
    hints = get_type_hints(function, include_extras=True)
    for name, hint in hints.items():
        for declared in getattr(hint, "__metadata__", ()):
            if isinstance(declared, Option):
                told = typer.Option(*declared.names, help=declared.help, metavar=declared.metavar, min=declared.min)
                hints[name] = Annotated[hint.__origin__, told]
            elif isinstance(declared, Argument):
                hints[name] = Annotated[hint.__origin__, typer.Argument(metavar=declared.metavar, help=declared.help)]
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    function.__annotations__ = hints
    function.__signature__ = signature.replace(parameters=parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return function
