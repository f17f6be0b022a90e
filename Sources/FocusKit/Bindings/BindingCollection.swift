extension Binding: Sequence where Value: MutableCollection {
  /// A binding to an element.
  public typealias Element = Binding<Value.Element>
  /// A part of the elements' bindings.
  public typealias SubSequence = Slice<Binding<Value>>

  /// Iterates over bindings to the elements that there are when the iteration begins; the loop's body may add and remove elements.
  public func makeIterator() -> AnyIterator<Binding<Value.Element>> {
    let values = wrappedValue
    let bindings = values.indices.lazy.map { index in
      Binding<Value.Element>(ElementLocation(location, index, values[index]), transaction)
    }
    return AnyIterator(bindings.makeIterator())
  }
}

extension Binding: Collection where Value: MutableCollection {
  /// A position in the collection.
  public typealias Index = Value.Index
  /// The collection's own indices.
  public typealias Indices = Value.Indices

  /// The position of the first element.
  public var startIndex: Value.Index { wrappedValue.startIndex }

  /// The position after the last element.
  public var endIndex: Value.Index { wrappedValue.endIndex }

  /// The positions of all elements.
  public var indices: Value.Indices { wrappedValue.indices }

  /// The position after `index`.
  public func index(after index: Value.Index) -> Value.Index { wrappedValue.index(after: index) }

  /// Advances `index` by one.
  public func formIndex(after index: inout Value.Index) { wrappedValue.formIndex(after: &index) }

  /// A binding to the element at `position`, which must exist now, as in the collection itself.
  ///
  /// Once the element no longer exists, the binding keeps the last value that it saw and drops writes.
  public subscript(position: Value.Index) -> Binding<Value.Element> {
    Binding<Value.Element>(ElementLocation(location, position, wrappedValue[position]), transaction)
  }
}

extension Binding: BidirectionalCollection where Value: BidirectionalCollection, Value: MutableCollection {
  /// The position before `index`.
  public func index(before index: Value.Index) -> Value.Index { wrappedValue.index(before: index) }

  /// Moves `index` back by one.
  public func formIndex(before index: inout Value.Index) { wrappedValue.formIndex(before: &index) }
}

extension Binding: RandomAccessCollection where Value: MutableCollection, Value: RandomAccessCollection {}
