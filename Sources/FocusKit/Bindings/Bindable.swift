public import Observation

/// Makes bindings to the properties of an `@Observable` object: SwiftUI's `Bindable`.
///
/// ```swift
/// @Bindable var model: Model
/// …
/// FocusField("slider").focusedValue(\.volume, $model.volume)
/// ```
///
/// A property is published again when Observation tells of a change. It is read and written on the main actor if the binding to
/// it is made there.
@propertyWrapper @dynamicMemberLookup
public struct Bindable<Value: AnyObject & Observable> {
  /// The object.
  public var wrappedValue: Value

  /// Creates bindings to the properties of an object.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Creates bindings to the properties of an object.
  public init(_ wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Itself, so that `$model.volume` is a binding.
  public var projectedValue: Bindable<Value> { self }

  /// A binding to a property of the object.
  public subscript<Subject>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding(MemberLocation(ConstantLocation(wrappedValue), keyPath))
  }
}

extension Bindable: Sendable where Value: Sendable {}

extension Bindable: Identifiable where Value: Identifiable {
  /// The identity of the object.
  public var id: Value.ID { wrappedValue.id }
}
