from memoryhub.web.documents import Block, blocks

DOCUMENT = """# Goals

Migrate to async handlers,
one by one.
- First
  * Second
1. Third
> Quoted
> twice
```python
# not a heading

- not an item
```
---
#hashtag
"""


def test_a_document_is_read_block_by_block() -> None:
    assert list(blocks(DOCUMENT)) == [
        Block("heading", "Goals", 1),
        Block("text", "Migrate to async handlers,\none by one."),
        Block("item", "First", 0, "•"),
        Block("item", "Second", 1, "•"),
        Block("item", "Third", 0, "1."),
        Block("quote", "Quoted\ntwice"),
        Block("code", "# not a heading\n\n- not an item"),
        Block("rule", "---"),
        Block("text", "#hashtag"),
    ]


def test_a_task_has_a_box_and_says_whether_it_is_done() -> None:
    assert list(blocks("- [ ] Tests\n- [x] Code\n1) [ ] Not a task")) == [
        Block("item", "Tests", 0, "☐"),
        Block("item", "Code", 0, "☑"),
        Block("item", "[ ] Not a task", 0, "1)"),
    ]


def test_nothing_is_lost_where_code_never_ends() -> None:
    assert list(blocks("~~~\na\n```\nb")) == [Block("code", "a\n```\nb")]


def test_an_empty_text_has_no_blocks() -> None:
    assert list(blocks("\n \n")) == []
