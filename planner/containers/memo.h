// Memo keeps the last values of a pure function, for a hot loop that asks for the same few values
// again and again.
#pragma once

#include <cstddef>
#include <vector>

namespace meshwright::planner {

// Enough values for the shapes that a search uses repeatedly: those of one mesh under each of its
// schedules.
inline constexpr size_t kShapesOfASearch = 64;
// Enough values for the layer groups of a model.
inline constexpr size_t kShapesOfAModel = 4;

// Remembers the values of the last N different keys. Not thread-safe.
template <typename Key, typename Value, size_t N>
class Memo {
 public:
  // Returns the value of `key`, and calls make() for it if it is not known. The reference is valid
  // until the next call. `key` is a Key, or a value that can be compared with a Key and converted
  // to one.
  template <typename Query = Key, typename Make>
  const Value& Get(const Query& key, const Make& make) {
    for (size_t age = 1; age <= size_; ++age) {
      const Known& known = known_[(next_ + N - age) % N];
      if (known.key == key) return known.value;
    }
    Known& place = known_[next_];
    next_ = (next_ + 1) % N;
    if (size_ < N) ++size_;
    place.key = Key(key);
    place.value = make();
    return place.value;
  }

 private:
  struct Known {
    Key key;
    Value value;
  };

  // On the heap, not in the object: a thread-local object takes room from the thread's stack, and
  // threads of libraries have small stacks.
  std::vector<Known> known_ = std::vector<Known>(N);
  size_t size_ = 0;
  size_t next_ = 0;
};

}  // namespace meshwright::planner
