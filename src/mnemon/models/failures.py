"""What can go wrong with a model, in the codes that job records and API answers carry."""

from mnemon.errors import MnemonError


class EmbedderUnavailable(MnemonError):
    """No embedding model can be used; lexical search and everything else goes on."""

    code = "EMBEDDER_UNAVAILABLE"
    status = 503


class EmbeddingDimensionMismatch(MnemonError):
    """The endpoint gave vectors of another length than the setting or the stored vectors have."""

    code = "EMBEDDING_DIMENSION_MISMATCH"
    status = 502


class LanguageModelUnavailable(MnemonError):
    """No language model is configured."""

    code = "LANGUAGE_MODEL_UNAVAILABLE"
    status = 503


class ModelRateLimited(MnemonError):
    """The model's server asks for fewer requests; details say how long to wait when it told."""

    code = "OPENAI_RATE_LIMIT"
    status = 503
    retry = True


class ModelQuotaSpent(MnemonError):
    """The account behind the key has no credit left."""

    code = "OPENAI_QUOTA_EXCEEDED"
    status = 502


class ModelTimedOut(MnemonError):
    """The model's server did not answer in time."""

    code = "OPENAI_TIMEOUT"
    status = 504
    retry = True


class ModelUnreachable(MnemonError):
    """The model's server is down, hung up in mid-answer or reports an error of its own."""

    code = "OPENAI_CONNECTION_ERROR"
    status = 502
    retry = True


class InvalidModel(MnemonError):
    """The model's server does not know the model by this name."""

    code = "OPENAI_INVALID_MODEL"
    status = 502


class ModelKeyRefused(MnemonError):
    """The model's server does not accept the key."""

    code = "OPENAI_INVALID_KEY"
    status = 502


class ModelRequestRefused(MnemonError):
    """The model's server refuses this request: too long, filtered, or with an option it does not know."""

    code = "OPENAI_INVALID_REQUEST"
    status = 502


class AnswerTruncated(MnemonError):
    """The answer reached the limit on its length before its end."""

    code = "OPENAI_ANSWER_TRUNCATED"
    status = 502


class InvalidAnswer(MnemonError):
    """The model's answer did not fit the schema, also after its mistakes were shown to it."""

    code = "INVALID_JSON_SCHEMA"
    status = 502
    retry = True
