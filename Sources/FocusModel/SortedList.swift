internal import FocusContract

/// Elements in order, each once, in runs of limited length: to add or remove one moves a run, not all.
struct SortedList<Element: Comparable>: Gathering {
  private static var longestRun: Int { 512 }

  /// None of them is empty.
  private var runs: [[Element]] = []

  var isEmpty: Bool { runs.isEmpty }
  var first: Element? { runs.first?.first }
  var last: Element? { runs.last?.last }
  var count: Int { runs.reduce(0) { $0 + $1.count } }

  /// Where the first element is that does not come before `element`.
  private func place(of element: Element) -> (run: Int, index: Int) {
    let run = runs.partitioningIndex { $0.last.map { $0 >= element } ?? true }
    guard run < runs.count else { return (run, 0) }
    return (run, runs[run].partitioningIndex { $0 >= element })
  }

  /// How many elements come before `element`, whether it is there or not.
  func position(of element: Element) -> Int {
    let place = place(of: element)
    return runs[..<place.run].reduce(place.index) { $0 + $1.count }
  }

  /// The elements that come after `element`, all for nil, the last first, and `most` of them.
  func last(_ most: Int, after element: Element?) -> [Element] {
    var found: [Element] = []
    for one in runs.reversed().lazy.flatMap({ $0.reversed() }) {
      guard found.count < most, element.map({ $0 < one }) ?? true else { break }
      found.append(one)
    }
    return found
  }

  mutating func set(_ element: Element, isThere: Bool) {
    let place = place(of: element)
    let wasThere = place.run < runs.count && runs[place.run][place.index] == element
    guard wasThere != isThere else { return }
    if isThere { insert(element, at: place) } else { remove(at: place) }
  }

  private mutating func insert(_ element: Element, at place: (run: Int, index: Int)) {
    var place = place
    if place.run == runs.count {
      guard let last = runs.last else { return runs.append([element]) }
      place = (runs.count - 1, last.count)
    }
    runs[place.run].insert(element, at: place.index)
    let length = runs[place.run].count
    guard length > SortedList.longestRun else { return }
    let rest = Array(runs[place.run][(length / 2)...])
    runs[place.run].removeLast(rest.count)
    runs.insert(rest, at: place.run + 1)
  }

  private mutating func remove(at place: (run: Int, index: Int)) {
    runs[place.run].remove(at: place.index)
    let next = place.run + 1
    if runs[place.run].isEmpty {
      runs.remove(at: place.run)
    } else if next < runs.count, runs[place.run].count + runs[next].count < SortedList.longestRun / 2 {
      runs[place.run] += runs[next]
      runs.remove(at: next)
    }
  }
}

extension SortedList: Sequence, Equatable {
  func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { runs.joined().makeIterator() }

  static func == (left: SortedList, right: SortedList) -> Bool { left.elementsEqual(right) }
}

extension Array {
  /// The first index for whose element, and for all after it, `belongs` is true; found by halving.
  func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
