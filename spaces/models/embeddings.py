import numpy as np
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField

from accounts.models import Tenant
from spaces.embedding.base import Vector
from spaces.embedding.canaries import Scale
from spaces.embedding.spec import ModelSpec
from spaces.models.memories import Memory

NARROWEST_WIDE = 1281
"""An index holds vectors of fewer numbers than this beside its keys; wider ones don't fit into its pages."""
MOST_DIMENSIONS = 4000


class EmbeddingModelQuerySet(models.QuerySet["EmbeddingModel"]):
    def wanted(self) -> "EmbeddingModelQuerySet":
        """Those that memories get vectors of: what serves, and what is to serve."""
        return self.filter(state__in=["active", "building"])

    def serving(self) -> "EmbeddingModel | None":
        """What searches use: the active one; until a first one is complete, that."""
        return self.wanted().order_by("state").first()  # "active" before "building"


class EmbeddingModel(models.Model):
    """A model that vectors come from, or came from. Global: it is the same for every account.

    Vectors of two rows are never compared. `fingerprint` covers all that vectors depend on; a second row with the
    same one has a higher `revision`. `canaries` are vectors of known texts, one after the other. A model in
    `trouble` is left alone until `check_at`.
    """

    id = models.SmallAutoField(primary_key=True)
    name = models.CharField(max_length=200)
    url = models.CharField(max_length=500)
    dimensions = models.PositiveSmallIntegerField()
    query_prefix = models.CharField(max_length=500, blank=True)
    passage_prefix = models.CharField(max_length=500, blank=True)
    pooling = models.CharField(max_length=16, blank=True)
    centring = models.CharField(max_length=64, blank=True)
    weights = models.CharField(max_length=64, blank=True)
    ask_dimensions = models.PositiveSmallIntegerField(default=0)
    template_version = models.PositiveSmallIntegerField()
    chunks_version = models.PositiveSmallIntegerField()
    fingerprint = models.CharField(max_length=64)
    revision = models.PositiveSmallIntegerField(default=1)
    canaries = models.BinaryField()
    cosine_unrelated = models.FloatField()
    cosine_relevant = models.FloatField()
    state = models.CharField(
        max_length=8,
        default="building",
        choices=[("building", "building"), ("active", "active"), ("retired", "retired")],
    )
    trouble = models.CharField(max_length=11, blank=True, help_text="One of Trouble, or nothing")
    trouble_note = models.CharField(max_length=300, blank=True)
    trouble_since = models.DateTimeField(null=True, blank=True)
    failed_checks = models.PositiveSmallIntegerField(default=0)
    check_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    activated_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = EmbeddingModelQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["state"], condition=~Q(state="retired"), name="embedding_model_one_in_state"
            ),
            models.CheckConstraint(
                condition=Q(dimensions__gte=1, dimensions__lte=MOST_DIMENSIONS),
                name="embedding_model_dimensions",
            ),
        ]

    def __str__(self) -> str:
        return f"embedding model {self.id}: {self.name}"

    @property
    def spec(self) -> ModelSpec:
        return ModelSpec(
            name=self.name,
            dimensions=self.dimensions,
            query_prefix=self.query_prefix,
            passage_prefix=self.passage_prefix,
            pooling=self.pooling,
            centring=self.centring,
            weights=self.weights,
        )

    @property
    def scale(self) -> Scale:
        return Scale(self.cosine_unrelated, self.cosine_relevant)

    @property
    def wide(self) -> bool:
        """Too wide for the covering index: its vectors are found by their bits, then compared row by row."""
        return self.dimensions >= NARROWEST_WIDE

    @property
    def canary_vectors(self) -> list[Vector]:
        return list(np.frombuffer(bytes(self.canaries), "<f4").reshape(-1, self.dimensions))


class BitsField(models.Field):  # type: ignore[type-arg]
    """A bit string of any length."""

    def db_type(self, connection: object) -> str:
        return "bit varying"


class ChunkQuerySet(models.QuerySet["MemoryChunk"]):
    def of(self, model: EmbeddingModel) -> "ChunkQuerySet":
        return self.filter(model_id=model.id)


class MemoryChunk(Tenant):
    """A piece of a memory as a vector of one model. Derived and rebuildable.

    Rows are never updated: an edit deletes a memory's chunks in its own transaction, and new ones come when the
    new text has been embedded; so what is here is never of an older text. `space` is the memory's, for filters.
    `text_hash` is that of the whole text that was embedded, the same in all of a memory's chunks.
    """

    memory = models.ForeignKey(
        Memory, models.CASCADE, db_constraint=False, db_index=False, related_name="chunks"
    )
    model = models.ForeignKey(EmbeddingModel, models.PROTECT, db_index=False, related_name="+")
    number = models.PositiveSmallIntegerField(default=0)
    space_id = models.UUIDField(null=True)
    text_hash = models.BinaryField(max_length=32)
    wide = models.BooleanField(default=False)
    vector = HalfVectorField()
    bits = models.GeneratedField(
        expression=models.Func("vector", function="binary_quantize"),
        output_field=BitsField(),
        db_persist=True,
    )

    objects = ChunkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "memory", "model", "number"], name="memory_chunk")
        ]
        indexes = [
            # Read in full for one account and model (and space), from the index alone.
            models.Index(
                fields=["account", "model", "space_id"],
                include=["memory", "vector"],
                condition=Q(wide=False),
                name="memory_chunk_vectors",
            ),
            models.Index(
                fields=["account", "model", "space_id"],
                include=["id", "memory", "bits"],
                name="memory_chunk_bits",
            ),
        ]


class EmbeddingFailure(Tenant):
    """A memory that has no vector of a model because its text was refused or came to nothing. It is tried again."""

    memory = models.ForeignKey(
        Memory, models.CASCADE, db_constraint=False, db_index=False, related_name="embedding_failures"
    )
    model = models.ForeignKey(EmbeddingModel, models.CASCADE, db_index=False, related_name="+")
    note = models.CharField(max_length=300)
    failed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "memory", "model"], name="embedding_failure")
        ]
