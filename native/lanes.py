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
        return builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        )

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
            store(builder, larger_of(builder, total, old), place)
            return context.get_dummy_value()

        return signature, code

    def larger_of(builder: Any, first: Any, second: Any) -> Any:
        # A comparison and a selection would become a masked store. Reading that again at once makes the
        # processor wait.
        kind = ir.FunctionType(vector, [vector, vector])
        larger = cgutils.get_or_insert_function(builder.module, kind, f"llvm.maxnum.v{lanes}f32")
        return builder.call(larger, [first, second], fastmath=("nnan",))

    def data_of(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        return context.make_array(kind)(context, builder, value).data

    def item(builder: Any, data: Any, place: Any) -> Any:
        """A small number as an index."""
        return builder.sext(builder.load(builder.gep(data, [place])), ir.IntType(64))

    def raise_rows(
        typing: Any,
        target: Any,
        mark: Any,
        left: Any,
        a: Any,
        right: Any,
        b: Any,
        t: Any,
        score: Any,
        begin: Any,
        end: Any,
    ) -> Any:
        signature = types.void(target, mark, left, a, right, b, t, score, types.intp, types.intp)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = [
                data_of(context, builder, kind, value) for kind, value in zip(signature.args[:8], args[:8])
            ]
            rows = [builder.bitcast(data[n], vector.as_pointer()) for n in (0, 2, 4)]
            with cgutils.for_range(builder, args[9], start=args[8], intp=ir.IntType(64)) as loop:
                first = load(builder, builder.gep(rows[1], [item(builder, data[3], loop.index)]))
                second = load(builder, builder.gep(rows[2], [item(builder, data[5], loop.index)]))
                number = item(builder, data[6], loop.index)
                place = builder.gep(rows[0], [number])
                score = spread(builder, builder.load(builder.gep(data[7], [loop.index])))
                total = builder.fadd(builder.fadd(score, first), second)
                store(builder, larger_of(builder, total, load(builder, place)), place)
                builder.store(ir.Constant(ir.IntType(8), 1), builder.gep(data[1], [number]))
            return context.get_dummy_value()

        return signature, code

    def raise_beside(one_is_left: bool) -> Any:
        def form(
            typing: Any,
            target: Any,
            mark: Any,
            one: Any,
            place: Any,
            others: Any,
            b: Any,
            t: Any,
            score: Any,
            begin: Any,
            end: Any,
        ) -> Any:
            signature = types.void(target, mark, one, types.intp, others, b, t, score, types.intp, types.intp)

            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                kinds = signature.args
                targets, others = (
                    builder.bitcast(data_of(context, builder, kinds[n], args[n]), vector.as_pointer())
                    for n in (0, 4)
                )
                marks, places, numbers, scores = (
                    data_of(context, builder, kinds[n], args[n]) for n in (1, 5, 6, 7)
                )
                one = load(builder, row(context, builder, kinds[2], args[2], args[3]))
                with cgutils.for_range(builder, args[9], start=args[8], intp=ir.IntType(64)) as loop:
                    other = load(builder, builder.gep(others, [item(builder, places, loop.index)]))
                    number = item(builder, numbers, loop.index)
                    place = builder.gep(targets, [number])
                    score = spread(builder, builder.load(builder.gep(scores, [loop.index])))
                    first, second = (one, other) if one_is_left else (other, one)
                    total = builder.fadd(builder.fadd(score, first), second)
                    store(builder, larger_of(builder, total, load(builder, place)), place)
                    builder.store(ir.Constant(ir.IntType(8), 1), builder.gep(marks, [number]))
                return context.get_dummy_value()

            return signature, code

        return form

    raise_after, raise_before = raise_beside(True), raise_beside(False)
    raise_after.__name__, raise_before.__name__ = "raise_after", "raise_before"

    def spread_row(
        typing: Any, target: Any, mark: Any, source: Any, s: Any, t: Any, score: Any, begin: Any, end: Any
    ) -> Any:
        signature = types.void(target, mark, source, types.intp, t, score, types.intp, types.intp)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            targets = builder.bitcast(data_of(context, builder, kinds[0], args[0]), vector.as_pointer())
            marks, places, scores = (data_of(context, builder, kinds[n], args[n]) for n in (1, 4, 5))
            source = load(builder, row(context, builder, kinds[2], args[2], args[3]))
            with cgutils.for_range(builder, args[7], start=args[6], intp=ir.IntType(64)) as loop:
                number = item(builder, places, loop.index)
                place = builder.gep(targets, [number])
                total = builder.fadd(spread(builder, builder.load(builder.gep(scores, [loop.index]))), source)
                store(builder, larger_of(builder, total, load(builder, place)), place)
                builder.store(ir.Constant(ir.IntType(8), 1), builder.gep(marks, [number]))
            return context.get_dummy_value()

        return signature, code

    def lowest(typing: Any, bits: Any) -> Any:
        signature = types.intp(types.uint64)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

        return signature, code

    def above(typing: Any, rows: Any, i: Any, score: Any, limit: Any) -> Any:
        signature = types.boolean(rows, types.intp, types.float32, limit)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = load(builder, row(context, builder, signature.args[0], args[0], args[1]))
            bits = ir.IntType(lanes)
            limit = load(
                builder, row(context, builder, signature.args[3], args[3], ir.Constant(ir.IntType(64), 0))
            )
            found = builder.fcmp_ordered(">", builder.fadd(value, spread(builder, args[2])), limit)
            return builder.icmp_unsigned("!=", builder.bitcast(found, bits), ir.Constant(bits, 0))

        return signature, code

    def keep_row(typing: Any, target: Any, t: Any, source: Any, s: Any, score: Any, limit: Any) -> Any:
        signature = types.void(target, types.intp, source, types.intp, types.float32, limit)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            value = load(builder, row(context, builder, kinds[2], args[2], args[3]))
            limit = load(builder, row(context, builder, kinds[5], args[5], ir.Constant(ir.IntType(64), 0)))
            found = builder.fcmp_ordered(">", builder.fadd(value, spread(builder, args[4])), limit)
            nothing = ir.Constant(vector, [float("-inf")] * lanes)
            kept = builder.select(found, value, nothing)
            store(builder, kept, row(context, builder, kinds[0], args[0], args[1]))
            return context.get_dummy_value()

        return signature, code

    def copy_row(typing: Any, target: Any, t: Any, source: Any, s: Any) -> Any:
        signature = types.void(target, types.intp, source, types.intp)

        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = load(builder, row(context, builder, signature.args[2], args[2], args[3]))
            store(builder, value, row(context, builder, signature.args[0], args[0], args[1]))
            return context.get_dummy_value()

        return signature, code

    return {
        form.__name__: extending.intrinsic(form)
        for form in (
            raise_row,
            raise_rows,
            raise_after,
            raise_before,
            spread_row,
            lowest,
            above,
            keep_row,
            copy_row,
        )
    }
