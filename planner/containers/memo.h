// The last values of a pure function, for a hot loop that asks for the same few again and again.
#pragma once

#include <cstddef>
#include <vector>

namespace meshwright::planner {

// As many as a search of layouts comes back to: the shapes of a mesh, with each of its schedules;
// the layer groups of a model.
inline constexpr size_t kShapesOfASearch = 64;
inline constexpr size_t kShapesOfAModel = 4;

// Remembers the values of the last N different keys. For one thread.
template <typename Key, typename Value, size_t N>
class Memo {
 public:
  // Returns the value of `key`, which make() works out where it is not known. The reference is good
  // until the next call.
  template <typename Make>
  const Value& Get(const Key& key, const Make& make) {
    for (size_t age = 1; age <= size_; ++age) {
      const Known& known = known_[(next_ + N - age) % N];
      if (known.key == key) return known.value;
    }
    Known& place = known_[next_];
    next_ = (next_ + 1) % N;
    if (size_ < N) ++size_;
    place.key = key;
    place.value = make();
    return place.value;
  }

 private:
  struct Known {
    Key key;
    Value value;
  };

  // Not in the object: what a thread keeps comes out of its stack, and threads of libraries have
  // small ones.
  std::vector<Known> known_ = std::vector<Known>(N);
  size_t size_ = 0;
  size_t next_ = 0;
};

}  // namespace meshwright::planner
