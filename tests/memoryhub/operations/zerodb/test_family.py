"""The family is what its clients were made for: its tools, and each one's arguments with their types and defaults."""

from memoryhub.operations.base import REGISTRY

REQUIRED = "required"
TOOLS = {
    "zerodb_store_memory": {
        "content": ("string", REQUIRED),
        "metadata": ("object", None),
        "importance": ("number", 0.5),
    },
    "zerodb_search_memory": {
        "query": ("string", REQUIRED),
        "limit": ("number", 10),
        "metadata_filter": ("object", None),
    },
    "zerodb_semantic_search": {
        "query": ("string", REQUIRED),
        "limit": ("number", 10),
        "min_score": ("number", 0.0),
    },
    "zerodb_get_context": {"session_id": ("string", None), "limit": ("number", 20)},
    "zerodb_embed_text": {"text": ("string", REQUIRED)},
    "zerodb_clear_session": {"session_id": ("string", None)},
    "zerodb_plan_create": {
        "title": ("string", REQUIRED),
        "content": ("string", REQUIRED),
        "tags": ("array", None),
        "metadata": ("object", None),
    },
    "zerodb_plan_get": {"artifact_id": ("string", REQUIRED)},
    "zerodb_plan_update": {
        "artifact_id": ("string", REQUIRED),
        "content": ("string", REQUIRED),
        "title": ("string", None),
        "tags": ("array", None),
    },
    "zerodb_plan_history": {"artifact_id": ("string", REQUIRED)},
    "zerodb_configure_auto_context": {
        "enabled": ("boolean", REQUIRED),
        "max_memories": ("number", 5),
        "min_relevance": ("number", 0.6),
        "auto_trace": ("boolean", False),
    },
    "zerodb_get_auto_context_config": {},
    "zerodb_synthesize_context": {"query": ("string", REQUIRED), "max_sources": ("number", 10)},
    "zerodb_slack_send": {"channel": ("string", REQUIRED), "message": ("string", REQUIRED)},
    "zerodb_gmail_reply": {"thread_id": ("string", REQUIRED), "body": ("string", REQUIRED)},
    "zerodb_calendar_create": {
        "title": ("string", REQUIRED),
        "start": ("string", REQUIRED),
        "end": ("string", REQUIRED),
    },
    "zerodb_github_create_issue": {
        "repo": ("string", REQUIRED),
        "title": ("string", REQUIRED),
        "body": ("string", None),
    },
    "zerodb_notion_create_page": {
        "parent_id": ("string", REQUIRED),
        "title": ("string", REQUIRED),
        "content": ("string", None),
    },
}


def test_the_tools_and_their_arguments_are_the_seeds() -> None:
    served = {}
    for operation in REGISTRY.tools("zerodb"):
        schema = operation.tool_json()["inputSchema"]
        needed = schema.get("required", [])
        served[operation.name] = {
            name: (given["type"], REQUIRED if name in needed else given.get("default"))
            for name, given in schema["properties"].items()
        }
    assert served == TOOLS
