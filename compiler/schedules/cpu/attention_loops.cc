// A block of queries goes through the keys once, some of them at a time. For
// each query it keeps the largest score so far, the sum of exponentials of
// scores less that, and the sum of values with these weights, both of which
// shrink when a larger score comes. Queries lie along vectors everywhere, so
// that neither the products nor the softmax turn anything around: keys and
// values are read where they are, an element at a time for all queries of a
// tile.
#include "compiler/schedules/cpu/attention_loops.h"

#include <functional>
#include <utility>
#include <vector>

#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::te::cpu {
namespace {

using tir::Buffer;
using tir::ForKind;
using tir::MakeInt;
using tir::MakeLet;
using tir::MakeLoad;
using tir::MakeSeq;
using tir::MakeStore;
using tir::Max;
using tir::Min;
using tir::Stmt;

using Body = std::function<Stmt(const Expr&)>;

Stmt For(absl::string_view name, const Expr& min, const Expr& extent,
         ForKind kind, const Body& body) {
  const tir::VarPtr var = tir::MakeVar(name);
  return tir::MakeFor(var, min, extent, kind, body(Expr(var)));
}
Stmt For(absl::string_view name, const Expr& extent, const Body& body) {
  return For(name, MakeInt(0), extent, ForKind::kSerial, body);
}
Stmt For(absl::string_view name, int64_t extent, const Body& body) {
  return For(name, MakeInt(extent), body);
}

// Gives a value a name.
Stmt Let(absl::string_view name, const Expr& value, const Body& body) {
  const tir::VarPtr var = tir::MakeVar(name, value->dtype);
  return MakeLet(var, value, body(Expr(var)));
}

Buffer Array(absl::string_view name, const Stage* of,
             const std::vector<int64_t>& shape) {
  std::vector<Expr> extents;
  for (const int64_t extent : shape) extents.push_back(MakeInt(extent));
  return tir::MakeBuffer(name, of->output().dtype(), std::move(extents),
                         tir::Scope::kStack);
}

Stmt Allocate(const std::vector<Buffer>& arrays, Stmt body) {
  for (const Buffer& array : arrays) body = tir::MakeAllocate(array, body);
  return body;
}

Expr CeilDiv(const Expr& a, int64_t b) { return (a + (b - 1)) / MakeInt(b); }

Expr Join(const Stage* stage, const Expr& sum, const Expr& term) {
  return stage->op().reducer.combine(sum, term);
}
Expr Nothing(const Stage* stage) { return stage->op().reducer.identity; }

class Builder {
 public:
  Builder(const AttentionStages& s, const AttentionBlocks& b)
      : s_(s),
        b_(b),
        width_(b.width()),
        vectors_(b.tile.vectors),
        parts_(s.scores->op()),
        keys_(s.scores->output().shape()[4]),
        queries_(s.scaled->output().shape()[2]),
        depth_(GuessExtent(s.scaled->output().shape()[3])),
        columns_(GuessExtent(s.values->output().shape()[4])),
        query_(Array("queries", s.scaled, {b.panels, depth_, width_})),
        values_(Array("values", s.values, {b.panels, columns_, width_})),
        most_(Array("most", s.max, {b.panels, width_})),
        sum_(Array("sum", s.sum, {b.panels, width_})),
        exps_(Array("scores", s.exp, {kAttentionKeys, width_})),
        top_(Array("top", s.top, {width_})),
        shrink_(Array("shrink", s.top, {width_})) {}

  Stmt Build();

 private:
  // Loops over the panels of a block that have queries.
  Stmt Panels(const Body& body);
  // Loops over the queries of a panel, in vectors.
  Stmt Vectors(const Body& body) const;
  // Loops over the rows of a tile, and in each over the queries likewise.
  Stmt Tile(
      int64_t rows,
      const std::function<Stmt(const Expr& row, const Expr& lane)>& body) const;

  // A point of a stage [batch, head, member, query, last].
  Indices At(const Expr& query, const Expr& last) const {
    return {batch_, head_ / members_, head_ % members_, query, last};
  }
  Indices At(const Expr& query) const {
    return {batch_, head_ / members_, head_ % members_, query};
  }
  // Loops over `extent`, a few iterations side by side, so that the vectors
  // which these load of a transposed array are taken of it together.
  Stmt Transposed(const Expr& extent, const Body& body) const;

  // Whether panels are full of queries.
  bool IsWhole() const { return tir::ToAffine(queries_).IsMultipleOf(width_); }
  // Queries beyond the last one are it, and keys likewise.
  Expr Inside(const Expr& query) const {
    return IsWhole() ? query : Min(query, queries_ - 1);
  }
  Expr KeyInside(const Expr& key, bool whole) const {
    return whole ? key : Min(key, keys_ - 1);
  }

  Stmt Block(const Expr& rows);
  Stmt Start(const Expr& panel);
  Stmt AllKeys();
  Stmt Chunks(const Expr& from, const Expr& to, const Expr& end, bool whole);
  Stmt Chunk(const Expr& panel, const Expr& first, const Expr& tiles,
             bool whole);
  Stmt ScoresOfTile(const Expr& panel, const Expr& first, const Expr& at,
                    bool whole);
  Expr Score(const Expr& product, const Expr& query, const Expr& key,
             bool whole) const;
  Stmt Exponentials(const Expr& panel, const Expr& tiles);
  Stmt AddValues(const Expr& panel, const Expr& first, const Expr& tiles,
                 bool whole);
  Stmt Finish(const Expr& panel);

  const AttentionStages& s_;
  const AttentionBlocks& b_;
  const int64_t width_;
  int64_t vectors_;  // of queries in the panel at hand
  const ScoreParts parts_;
  const Expr keys_, queries_;
  const int64_t depth_, columns_;
  // A thread keeps these for its block: queries and sums of values by panels,
  // [panel, element, query], and the largest scores and sums, [panel, query];
  // and for one panel: scores, then their exponentials, [key, query], the
  // largest scores up to these keys, and the factors by which sums shrink.
  const Buffer query_, values_, most_, sum_, exps_, top_, shrink_;
  Expr batch_, head_, members_;
  Expr first_;   // query of the block
  Expr rows_;    // its queries
  Expr panels_;  // that have some of them
};

Stmt Builder::Build() {
  const auto& shape = s_.result->output().shape();
  const int64_t size = b_.panels * width_;
  members_ = s_.scores->output().shape()[2];
  const Expr blocks = tir::Simplify(CeilDiv(queries_, size));
  const Expr tasks = tir::Simplify(shape[0] * shape[1] * blocks);
  const Body task = [&](const Expr& i) {
    const Expr row = i / blocks;
    return Let("batch", row / shape[1], [&](const Expr& batch) {
      return Let("head", row % shape[1], [&](const Expr& head) {
        return Let("first", (i % blocks) * size, [&](const Expr& first) {
          batch_ = batch;
          head_ = head;
          first_ = first;
          return Let("rows", Min(queries_ - first, MakeInt(size)),
                     [&](const Expr& rows) { return Block(rows); });
        });
      });
    });
  };
  return For("task", MakeInt(0), tasks, ForKind::kParallel, task);
}

Stmt Builder::Panels(const Body& body) {
  const int64_t left = ConstExtent(queries_).value_or(0) % width_;
  const int64_t last = (left + b_.lanes - 1) / b_.lanes;
  if (left == 0 || last == b_.tile.vectors) return For("p", panels_, body);
  // The last panel of all has fewer vectors.
  const Expr full = rows_ / MakeInt(width_);
  const Stmt most = For("p", full, body);
  vectors_ = last;
  const Stmt rest = For("p", full, panels_ - full, ForKind::kSerial, body);
  vectors_ = b_.tile.vectors;
  return MakeSeq({most, rest});
}

Stmt Builder::Vectors(const Body& body) const {
  return For("v", MakeInt(0), MakeInt(vectors_), ForKind::kUnrolled,
             [&](const Expr& v) {
               return For(
                   "l", MakeInt(0), MakeInt(b_.lanes), ForKind::kVectorized,
                   [&](const Expr& l) { return body(v * b_.lanes + l); });
             });
}

Stmt Builder::Tile(
    int64_t rows,
    const std::function<Stmt(const Expr& row, const Expr& lane)>& body) const {
  return For("r", MakeInt(0), MakeInt(rows), ForKind::kUnrolled,
             [&](const Expr& r) {
               return Vectors([&](const Expr& l) { return body(r, l); });
             });
}

Stmt Builder::Transposed(const Expr& extent, const Body& body) const {
  constexpr int64_t kAtOnce = 4;
  const Expr whole = tir::Simplify(extent / MakeInt(kAtOnce));
  const Stmt most = For("i", whole, [&](const Expr& i) {
    return For("k", MakeInt(0), MakeInt(kAtOnce), ForKind::kUnrolled,
               [&](const Expr& k) { return body(i * kAtOnce + k); });
  });
  const Expr left = tir::Simplify(extent - whole * kAtOnce);
  const Stmt rest = For("i", whole * kAtOnce, left, ForKind::kSerial, body);
  return tir::IsConstInt(left, 0) ? most : MakeSeq({most, rest});
}

Stmt Builder::Block(const Expr& rows) {
  return Let("panels", CeilDiv(rows, width_), [&](const Expr& panels) {
    rows_ = rows;
    panels_ = panels;
    const Stmt start = Panels([&](const Expr& p) { return Start(p); });
    const Stmt finish = Panels([&](const Expr& p) { return Finish(p); });
    return Allocate({shrink_, top_, exps_, sum_, most_, values_, query_},
                    MakeSeq({start, AllKeys(), finish}));
  });
}

// Copies the queries, and starts the sums.
Stmt Builder::Start(const Expr& panel) {
  const Expr query = first_ + panel * width_;
  const auto copied = [&](const Expr& from, const Expr& d, const Expr& l) {
    return MakeStore(query_, {panel, d, l},
                     ValueAt(*s_.scaled, {batch_, head_, from, d}, {}));
  };
  Stmt copy = Transposed(MakeInt(depth_), [&](const Expr& d) {
    return Vectors([&](const Expr& l) { return copied(query + l, d, l); });
  });
  if (!IsWhole()) {
    const Stmt last = For("l", vectors_ * b_.lanes, [&](const Expr& l) {
      return For("d", depth_, [&](const Expr& d) {
        return copied(Min(query + l, queries_ - 1), d, l);
      });
    });
    copy = vectors_ < b_.tile.vectors
               ? last
               : tir::MakeIf(tir::Le(query + width_, queries_), copy, last);
  }
  const Stmt start = Vectors([&](const Expr& l) {
    return MakeSeq({MakeStore(most_, {panel, l},
                              ValueAt(*s_.top, At(query + l),
                                      {{s_.max, Nothing(s_.max)}})),
                    MakeStore(sum_, {panel, l}, Nothing(s_.sum))});
  });
  const Stmt clear = For("c", columns_, [&](const Expr& c) {
    return Vectors([&](const Expr& l) {
      return MakeStore(values_, {panel, c, l}, Nothing(s_.values));
    });
  });
  return MakeSeq({copy, start, clear});
}

// Skips keys that no query of the block looks at, and leaves conditions out for
// keys that all of them look at.
Stmt Builder::AllKeys() {
  const Expr last = Min(first_ + (b_.panels * width_ - 1), queries_ - 1);
  const auto bound = [&](const Expr& e, const Expr& query) {
    return PartAt(*s_.scores, e, At(query, MakeInt(0)), {});
  };
  Expr from = MakeInt(0), whole_from = MakeInt(0);
  for (const Expr& e : parts_.lower) {
    from = Max(from, bound(e, first_));
    whole_from = Max(whole_from, bound(e, last));
  }
  Expr to = keys_, whole_to = keys_;
  for (const Expr& e : parts_.upper) {
    to = Min(to, bound(e, last) + 1);
    whole_to = Min(whole_to, bound(e, first_) + 1);
  }
  const Expr size = MakeInt(kAttentionKeys);
  // Some queries may not look at all keys of the chunks [a, b), all queries
  // look at those of [b, c), and again not all at those of [c, chunks).
  return Let("end", Max(to, MakeInt(0)), [&](const Expr& end) {
    const Expr chunks = CeilDiv(end, kAttentionKeys);
    return Let("a", Min(from / size, chunks), [&](const Expr& a) {
      const Expr begin = Max(CeilDiv(whole_from, kAttentionKeys), a);
      return Let("b", Min(begin, chunks), [&](const Expr& b) {
        return Let(
            "c", Min(Max(whole_to / size, b), chunks), [&](const Expr& c) {
              return MakeSeq({parts_.lower.empty() ? MakeSeq({})
                                                   : Chunks(a, b, end, false),
                              Chunks(b, c, end, true),
                              Chunks(c, chunks, end, false)});
            });
      });
    });
  });
}

// The chunks [from, to), of which all queries look at all keys where `whole`,
// up to key `end`.
Stmt Builder::Chunks(const Expr& from, const Expr& to, const Expr& end,
                     bool whole) {
  const int64_t rows = b_.tile.rows;
  return For("chunk", from, to - from, ForKind::kSerial, [&](const Expr& i) {
    return Let("key", i * kAttentionKeys, [&](const Expr& key) {
      const auto each = [&](const Expr& tiles) {
        return Panels(
            [&](const Expr& p) { return Chunk(p, key, tiles, whole); });
      };
      if (whole) return each(MakeInt(kAttentionKeys / rows));
      const Expr left = Min(end - key, MakeInt(kAttentionKeys));
      return Let("tiles", CeilDiv(left, rows), each);
    });
  });
}

Stmt Builder::Chunk(const Expr& panel, const Expr& first, const Expr& tiles,
                    bool whole) {
  const int64_t rows = b_.tile.rows;
  const Stmt start = Vectors([&](const Expr& l) {
    return MakeStore(top_, {l}, MakeLoad(most_, {panel, l}));
  });
  const Stmt scores = For("t", tiles, [&](const Expr& t) {
    return ScoresOfTile(panel, first + t * rows, t * rows, whole);
  });
  const Stmt shrink = Vectors([&](const Expr& l) {
    const Expr top = MakeLoad(top_, {l}), most = MakeLoad(most_, {panel, l});
    const Elements elements = {{s_.scores, most}, {s_.top, top}};
    const Expr factor =
        ValueAt(*s_.exp, At(first_ + panel * width_ + l, first), elements);
    return MakeSeq(
        {MakeStore(shrink_, {l}, factor), MakeStore(most_, {panel, l}, top)});
  });
  return MakeSeq({start, scores, shrink, Exponentials(panel, tiles),
                  AddValues(panel, first, tiles, whole)});
}

Stmt Builder::ScoresOfTile(const Expr& panel, const Expr& first, const Expr& at,
                           bool whole) {
  const int64_t rows = b_.tile.rows;
  const Buffer tile = Array("tile", s_.product, {rows, width_});
  const Expr query = first_ + panel * width_;
  const auto element = [&](const Expr& r, const Expr& l) {
    return MakeLoad(tile, {r, l});
  };
  const Stmt clear = Tile(rows, [&](const Expr& r, const Expr& l) {
    return MakeStore(tile, {r, l}, Nothing(s_.product));
  });
  const Stmt multiply = For("d", depth_, [&](const Expr& d) {
    return Tile(rows, [&](const Expr& r, const Expr& l) {
      Indices at = At(query + l, KeyInside(first + r, whole));
      at.push_back(d);
      const Expr term = ValueAt(*s_.product, at,
                                {{s_.scaled, MakeLoad(query_, {panel, d, l})}});
      return MakeStore(tile, {r, l}, Join(s_.product, element(r, l), term));
    });
  });
  const Stmt finish = Tile(rows, [&](const Expr& r, const Expr& l) {
    const Expr score = Score(element(r, l), query + l, first + r, whole);
    return MakeSeq({MakeStore(exps_, {at + r, l}, score),
                    MakeStore(top_, {l},
                              Join(s_.max, MakeLoad(top_, {l}),
                                   MakeLoad(exps_, {at + r, l})))});
  });
  return Allocate({tile}, MakeSeq({clear, multiply, finish}));
}

Expr Builder::Score(const Expr& product, const Expr& query, const Expr& key,
                    bool whole) const {
  const Elements elements = {{s_.product, product}};
  const Indices inside = At(Inside(query), KeyInside(key, whole));
  Expr allowed = tir::MakeBool(true);
  for (const Expr& condition : parts_.other) {
    allowed =
        tir::And(allowed, PartAt(*s_.scores, condition, inside, elements));
  }
  if (!whole) {
    allowed = tir::And(allowed, tir::Lt(key, keys_));
    for (const Expr& condition : parts_.by_place) {
      allowed = tir::And(
          allowed, PartAt(*s_.scores, condition, At(query, key), elements));
    }
  }
  const Expr value = PartAt(*s_.scores, parts_.value, inside, elements);
  return tir::IsConstInt(allowed, 1)
             ? value
             : tir::MakeSelect(allowed, value, Nothing(s_.max));
}

// Makes the exponentials of a chunk's scores, and adds them up.
Stmt Builder::Exponentials(const Expr& panel, const Expr& tiles) {
  const Buffer sum = Array("sums", s_.sum, {width_});
  const Expr query = first_ + panel * width_;
  const Stmt start = Vectors([&](const Expr& l) {
    return MakeStore(sum, {l},
                     MakeLoad(sum_, {panel, l}) * MakeLoad(shrink_, {l}));
  });
  const Stmt add = For("k", tiles * b_.tile.rows, [&](const Expr& k) {
    return Vectors([&](const Expr& l) {
      const Elements elements = {{s_.scores, MakeLoad(exps_, {k, l})},
                                 {s_.top, MakeLoad(top_, {l})}};
      return MakeSeq({MakeStore(exps_, {k, l},
                                ValueAt(*s_.exp, At(query + l, k), elements)),
                      MakeStore(sum, {l},
                                Join(s_.sum, MakeLoad(sum, {l}),
                                     MakeLoad(exps_, {k, l})))});
    });
  });
  const Stmt store = Vectors([&](const Expr& l) {
    return MakeStore(sum_, {panel, l}, MakeLoad(sum, {l}));
  });
  return Allocate({sum}, MakeSeq({start, add, store}));
}

Stmt Builder::AddValues(const Expr& panel, const Expr& first, const Expr& tiles,
                        bool whole) {
  const int64_t rows = b_.tile.rows;
  const Expr query = first_ + panel * width_;
  const auto columns = [&](const Expr& column, int64_t count) {
    const Buffer tile = Array("tile", s_.values, {count, width_});
    const Stmt start = Tile(count, [&](const Expr& r, const Expr& l) {
      return MakeStore(
          tile, {r, l},
          MakeLoad(values_, {panel, column + r, l}) * MakeLoad(shrink_, {l}));
    });
    const Stmt add = For("k", tiles * rows, [&](const Expr& k) {
      return Tile(count, [&](const Expr& r, const Expr& l) {
        Indices at = At(query + l, column + r);
        at.push_back(KeyInside(first + k, whole));
        const Expr term =
            ValueAt(*s_.values, at, {{s_.exp, MakeLoad(exps_, {k, l})}});
        return MakeStore(tile, {r, l},
                         Join(s_.values, MakeLoad(tile, {r, l}), term));
      });
    });
    const Stmt store = Tile(count, [&](const Expr& r, const Expr& l) {
      return MakeStore(values_, {panel, column + r, l}, MakeLoad(tile, {r, l}));
    });
    return Allocate({tile}, MakeSeq({start, add, store}));
  };
  const int64_t whole_tiles = columns_ / rows, rest = columns_ % rows;
  return MakeSeq(
      {For("c", whole_tiles,
           [&](const Expr& c) { return columns(c * rows, rows); }),
       rest == 0 ? MakeSeq({}) : columns(MakeInt(whole_tiles * rows), rest)});
}

// Divides by the sums, and stores the transpose.
Stmt Builder::Finish(const Expr& panel) {
  const Buffer result = Array("results", s_.result, {columns_, width_});
  const Expr query = first_ + panel * width_;
  const Stmt divide = For("c", columns_, [&](const Expr& c) {
    return Vectors([&](const Expr& l) {
      const Elements elements = {{s_.values, MakeLoad(values_, {panel, c, l})},
                                 {s_.sum, MakeLoad(sum_, {panel, l})},
                                 {s_.top, MakeLoad(most_, {panel, l})}};
      return MakeStore(
          result, {c, l},
          ValueAt(*s_.result, {batch_, head_, query + l, c}, elements));
    });
  });
  const auto stored = [&](const Expr& l, const Expr& c) {
    return MakeStore(s_.result->output().buffer, {batch_, head_, query + l, c},
                     MakeLoad(result, {c, l}));
  };
  const int64_t vectors = columns_ / b_.lanes, whole = vectors * b_.lanes;
  const Expr count = Min(rows_ - panel * width_, MakeInt(width_));
  const Stmt most = Transposed(count, [&](const Expr& l) {
    return For("v", MakeInt(0), MakeInt(vectors), ForKind::kUnrolled,
               [&](const Expr& v) {
                 return For("c", MakeInt(0), MakeInt(b_.lanes),
                            ForKind::kVectorized, [&](const Expr& c) {
                              return stored(l, v * b_.lanes + c);
                            });
               });
  });
  const Stmt rest = For("l", count, [&](const Expr& l) {
    return For("c", columns_ - whole,
               [&](const Expr& c) { return stored(l, c + whole); });
  });
  std::vector<Stmt> all = {divide};
  if (vectors > 0) all.push_back(most);
  if (columns_ > whole) all.push_back(rest);
  return Allocate({result}, MakeSeq(all));
}

}  // namespace

tir::Stmt AttentionLoops(const AttentionStages& stages,
                         const AttentionBlocks& blocks) {
  return Builder(stages, blocks).Build();
}

}  // namespace ingot::te::cpu
