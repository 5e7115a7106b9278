"""The files we write are ONNX files: onnxruntime reads them and calculates what they say."""

import numpy as np
import onnxruntime
import pytest

from mnemon.models.minilm.onnx_file import GraphFile


def run(graph: GraphFile, **inputs: np.ndarray) -> list[np.ndarray]:
    return onnxruntime.InferenceSession(graph.contents(), providers=["CPUExecutionProvider"]).run(None, inputs)


def test_a_written_graph_calculates() -> None:
    graph = GraphFile("line")
    x = graph.input("x", "float32", ["rows", 2])
    (product,) = graph.node("MatMul", [x, graph.constant("slope", np.array([[2], [3]], np.float32))])
    (total,) = graph.node("Add", [product, graph.constant("start", np.array([10], np.float32))])
    graph.output(total, "float32", ["rows", 1])
    (result,) = run(graph, x=np.array([[1, 1], [0, 2]], np.float32))
    assert result.tolist() == [[15], [16]]


def test_attributes_of_every_kind_arrive() -> None:
    graph = GraphFile("attributes")
    x = graph.input("x", "float32", [1, 4])
    (leaky,) = graph.node("LeakyRelu", [x], alpha=0.25)
    left, right = graph.node("Split", [leaky], outputs=2, axis=-1, num_outputs=2)
    (turned,) = graph.node("Transpose", [left], perm=[1, 0])
    graph.output(turned, "float32", [2, 1])
    graph.output(right, "float32", [1, 2])
    turned_result, right_result = run(graph, x=np.array([[-4, 2, -8, 6]], np.float32))
    assert turned_result.tolist() == [[-1], [2]]
    assert right_result.tolist() == [[-2, 6]]


@pytest.mark.parametrize("kind", ["float32", "float16", "int64", "int32", "uint8", "int8"])
def test_constants_keep_their_type_shape_and_values(kind: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(kind)
    graph = GraphFile("constant")
    (same,) = graph.node("Identity", [graph.constant("values", values)])
    graph.output(same, kind, [2, 3])
    (result,) = run(graph)
    assert result.dtype == values.dtype
    assert np.array_equal(result, values)
