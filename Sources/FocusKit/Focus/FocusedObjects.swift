// What SwiftUI can do with objects, and FocusKit cannot: the compiler says so, and what to do instead.

extension FocusedValue where Value: AnyObject {
  /// Not available: an object is not a focused value, because another program cannot refer to it.
  ///
  /// Publish bindings to its properties, `.focusedValue(\.volume, $model.volume)`, or a `Codable` value with all of them.
  @available(
    *, unavailable,
    message: "another program cannot refer to an object: publish a binding to each property, or to a Codable value"
  )
  public init(_ objectType: Value.Type) { self.init(read: { nil }) }
}

extension FocusField {
  /// Not available: an object is not a focused value, because another program cannot refer to it.
  ///
  /// Publish bindings to its properties, `.focusedValue(\.volume, $model.volume)`, or a `Codable` value with all of them.
  @available(
    *, unavailable,
    message: "another program cannot refer to an object: publish a binding to each property, or to a Codable value"
  )
  public func focusedValue<Object: AnyObject>(_ object: Object?) -> FocusField { self }

  /// Not available: an object is not a focused value, because another program cannot refer to it.
  ///
  /// Publish bindings to its properties, `.focusedSceneValue(\.volume, $model.volume)`, or a `Codable` value with all of them.
  @available(
    *, unavailable,
    message: "another program cannot refer to an object: publish a binding to each property, or to a Codable value"
  )
  public func focusedSceneValue<Object: AnyObject>(_ object: Object?) -> FocusField { self }
}
