"""Provider settings: the schema of a table `[providers.NAME]`."""

from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict

from agentcli.config.declaration import setting

PROVIDER_EXAMPLES = """\
# Anthropic's models on Amazon Bedrock: pip install 'agentcli[bedrock]', and sign in as for the AWS tools (`aws sso
# login`, AWS_PROFILE, AWS_BEARER_TOKEN_BEDROCK …). Without region and profile here, AWS_REGION and AWS_PROFILE count.
[providers.bedrock]
api = "anthropic-bedrock"
compat = { region = "eu-west-1", profile = "work" }

# Anthropic's models on Google Vertex AI: pip install 'agentcli[vertex]', and `gcloud auth application-default login`.
# Without region and project here, CLOUD_ML_REGION and ANTHROPIC_VERTEX_PROJECT_ID count.
[providers.vertex]
api = "anthropic-vertex"
compat = { region = "europe-west1", project = "my-project" }

# OpenAI's models on Azure speak plain "openai-responses" (or "openai-completions"); the model's name is the
# deployment's. In place of a key, Entra ID: auth "bearer", and an api_key_command that prints a token, such as
# `az account get-access-token --resource https://cognitiveservices.azure.com --query accessToken -o tsv`
[providers.azure]
api = "openai-responses"
base_url = "https://my-resource.openai.azure.com/openai/v1"
api_key_env = "AZURE_OPENAI_API_KEY"
compat = { auth = "api-key" }
"""


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """`[providers.NAME]`: a server, new or known. What is not set stays as the catalog has it."""

    label: Annotated[str | UnsetType, setting("The name that people read.", example="My server")] = UNSET
    api: Annotated[
        str | UnsetType,
        setting(
            'How the server is spoken to: `"openai-completions"` (any OpenAI-compatible server), '
            '`"openai-responses"`, `"anthropic-messages"`, `"anthropic-bedrock"` or `"anthropic-vertex"`.',
            example="openai-completions",
        ),
    ] = UNSET
    base_url: Annotated[
        str | UnsetType,
        setting(
            "The address. In it, in `api_key` and in the values of `headers`, `$NAME` or `${NAME}` is the value of "
            "an environment variable, and `$$` a `$`. A variable that is not set is an error when the provider is "
            "used.",
            example="http://127.0.0.1:8080/v1",
        ),
    ] = UNSET
    api_key: Annotated[
        str | UnsetType,
        setting(
            "The key, or better `$NAME`, the variable that holds it. It takes precedence over all other sources of a "
            "key.",
            example="$MY_KEY",
        ),
    ] = UNSET
    api_key_env: Annotated[
        str | list[str] | UnsetType,
        setting(
            "The environment variable that holds the key, or several, of which the first that is set counts.",
            example="MY_SERVER_KEY",
        ),
    ] = UNSET
    api_key_command: Annotated[
        str | UnsetType,
        setting(
            "A shell command that prints the key. It runs when no variable holds one, and its answer is kept in "
            "memory.",
            example="pass show my-server",
            is_command=True,
            relative="command",
        ),
    ] = UNSET
    headers: Annotated[
        dict[str, str] | UnsetType, setting("Headers that are sent with every request.", example={"X-Team": "blue"})
    ] = UNSET
    compat: Annotated[
        dict[str, Any] | UnsetType,
        setting(
            'How the server differs from its API. `think_tags = "leading"`: `<think>…</think>` at the start of its '
            "text is thinking.",
            example={"think_tags": "leading"},
        ),
    ] = UNSET

    def overrides(self) -> dict[str, Any]:
        """The fields that are set, as fields of `agent.models.Provider`."""
        changes = {name: value for name, value in asdict(self).items() if value is not UNSET}
        if isinstance(names := changes.get("api_key_env"), str):
            changes["api_key_env"] = [names]
        return changes
