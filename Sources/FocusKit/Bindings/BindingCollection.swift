extension Binding where Value: MutableCollection, Value: RandomAccessCollection {
  /// Bindings to the elements that there are now.
  private var elements: some RandomAccessCollection<Binding<Value.Element>> {
    let values = wrappedValue
    return values.indices.lazy.map { index in
      Binding<Value.Element>(ElementLocation(location, index, values[index]), transaction)
    }
  }
}

extension Binding: Sequence, Collection, BidirectionalCollection, RandomAccessCollection
where Value: MutableCollection, Value: RandomAccessCollection {
  /// A binding to an element.
  public typealias Element = Binding<Value.Element>
  /// A part of the elements' bindings.
  public typealias SubSequence = Slice<Binding<Value>>
  /// A position in the collection.
  public typealias Index = Value.Index
  /// The collection's own indices.
  public typealias Indices = Value.Indices

  /// Iterates over bindings to the elements that there are when the iteration begins; the loop's body may add and remove elements.
  public func makeIterator() -> AnyIterator<Binding<Value.Element>> { AnyIterator(elements.makeIterator()) }

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

  /// The position before `index`.
  public func index(before index: Value.Index) -> Value.Index { wrappedValue.index(before: index) }

  /// Moves `index` back by one.
  public func formIndex(before index: inout Value.Index) { wrappedValue.formIndex(before: &index) }

  /// A binding to the element at `position`, which must exist now, as in the collection itself.
  ///
  /// Another thread or program may take it away between a look at ``endIndex`` and this: what goes through all elements iterates
  /// instead. Once the element no longer exists, the binding keeps the last value that it saw and drops writes.
  public subscript(position: Value.Index) -> Binding<Value.Element> {
    Binding<Value.Element>(ElementLocation(location, position, wrappedValue[position]), transaction)
  }
}

// Swift's own go from position to position, each in the value as it is then.
extension Binding where Value: MutableCollection, Value: RandomAccessCollection {
  /// A binding to the first element that there is now, or nil.
  public var first: Binding<Value.Element>? { elements.first }

  /// A binding to the last element that there is now, or nil.
  public var last: Binding<Value.Element>? { elements.last }

  /// What `transform` makes of the bindings to the elements that there are now.
  /// - Throws: what `transform` throws.
  public func map<Output, Failure>(
    _ transform: (Binding<Value.Element>) throws(Failure) -> Output
  ) throws(Failure) -> [Output] { try elements.map(transform) }

  /// Bindings to the elements that there are now, the last first.
  public func reversed() -> [Binding<Value.Element>] { elements.reversed() }

  // swift-format-ignore: NoLeadingUnderscores
  /// What makes an array of a sequence calls this.
  public func _copyToContiguousArray() -> ContiguousArray<Binding<Value.Element>> { ContiguousArray(elements) }
}
