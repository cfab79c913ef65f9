"""The compiled forms of `lanes`: one vector of floats for each row."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache
def vector_forms(lanes: int) -> dict[str, Any]:
    """Intrinsics by name; rows are those of C-ordered float32 arrays with `lanes` columns."""
    from llvmlite import ir
    from numba import extending
    from numba.core import cgutils, types

    vector = ir.VectorType(ir.FloatType(), lanes)

    def row(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
        array = context.make_array(kind)(context, builder, value)
        start = builder.gep(array.data, [builder.mul(index, ir.Constant(index.type, lanes))])
        return builder.bitcast(start, vector.as_pointer())

    def load(builder: Any, pointer: Any) -> Any:
        value = builder.load(pointer)
        value.align = 4
        return value

    def store(builder: Any, value: Any, pointer: Any) -> None:
        builder.store(value, pointer).align = 4

    def spread(builder: Any, value: Any) -> Any:
        nothing = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))

    def raise_row(typing: Any, target: Any, t: Any, left: Any, a: Any, right: Any, b: Any, score: Any) -> Any:
        signature = types.void(target, types.intp, left, types.intp, right, types.intp, types.float32)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            place = row(context, builder, kinds[0], args[0], args[1])
            first = load(builder, row(context, builder, kinds[2], args[2], args[3]))
            second = load(builder, row(context, builder, kinds[4], args[4], args[5]))
            score = spread(builder, args[6])
            total = builder.fadd(builder.fadd(score, first), second)
            old = load(builder, place)
            # A comparison and a selection would become a masked store, and reading that again at once makes the processor wait.
            kind = ir.FunctionType(vector, [vector, vector])
            larger = cgutils.get_or_insert_function(builder.module, kind, f"llvm.maxnum.v{lanes}f32")
            store(builder, builder.call(larger, [total, old], fastmath=("nnan",)), place)
            return context.get_dummy_value()

        return signature, code

    def above(typing: Any, rows: Any, i: Any, score: Any, limit: Any) -> Any:
        signature = types.boolean(rows, types.intp, types.float32, limit)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = load(builder, row(context, builder, signature.args[0], args[0], args[1]))
            bits = ir.IntType(lanes)
            limit = load(builder, row(context, builder, signature.args[3], args[3], ir.Constant(ir.IntType(64), 0)))
            found = builder.fcmp_ordered(">", builder.fadd(value, spread(builder, args[2])), limit)
            return builder.icmp_unsigned("!=", builder.bitcast(found, bits), ir.Constant(bits, 0))

        return signature, code

    def copy_row(typing: Any, target: Any, t: Any, source: Any, s: Any) -> Any:
        signature = types.void(target, types.intp, source, types.intp)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = load(builder, row(context, builder, signature.args[2], args[2], args[3]))
            store(builder, value, row(context, builder, signature.args[0], args[0], args[1]))
            return context.get_dummy_value()

        return signature, code

    return {form.__name__: extending.intrinsic(form) for form in (raise_row, above, copy_row)}
