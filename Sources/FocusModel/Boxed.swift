/// What few fields have, in memory of its own: the others take up one word for it.
@propertyWrapper
public struct Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
  private indirect enum Box: Equatable, Sendable {
    case empty
    case full(Value)
  }

  private var box = Box.empty

  /// Boxes a value, or nil.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// The value, or nil.
  public var wrappedValue: Value? {
    get { if case .full(let value) = box { value } else { nil } }
    set { box = newValue.map(Box.full) ?? .empty }
    // Without another reference to the value, which would be copied before it is changed.
    _modify {
      var value = wrappedValue
      box = .empty
      defer { box = value.map(Box.full) ?? .empty }
      yield &value
    }
  }
}
