/// Iterates over bindings to the elements that a collection had when the iteration began.
public struct BindingIterator<Values: MutableCollection>: IteratorProtocol {
  private let base: Binding<Values>
  private let values: Values
  private var index: Values.Index

  init(_ base: Binding<Values>) {
    self.base = base
    values = base.wrappedValue
    index = values.startIndex
  }

  /// The next element's binding, or nil at the end.
  public mutating func next() -> Binding<Values.Element>? {
    guard index < values.endIndex else { return nil }
    defer { values.formIndex(after: &index) }
    return Binding<Values.Element>(ElementLocation(base.location, index, values[index]), base.transaction)
  }
}

extension Binding: Sequence where Value: MutableCollection {
  /// A binding to an element.
  public typealias Element = Binding<Value.Element>
  /// The iterator over the elements' bindings.
  public typealias Iterator = BindingIterator<Value>
  /// A part of the elements' bindings.
  public typealias SubSequence = Slice<Binding<Value>>

  /// Iterates over bindings to the current elements; the loop's body may add and remove elements.
  public func makeIterator() -> BindingIterator<Value> { BindingIterator(self) }
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
