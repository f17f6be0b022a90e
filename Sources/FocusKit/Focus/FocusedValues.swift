public import DBusTypes

/// The values published by the focused field and the fields that contain it: SwiftUI's `FocusedValues`.
///
/// A program adds its keys by extending it with computed properties; they are always optional:
///
/// ```swift
/// extension FocusedValues {
///   var number: Binding<Int>? {
///     get { self["demo.Form.Number"] }
///     set { self["demo.Form.Number"] = newValue }
///   }
/// }
/// ```
///
/// This is SwiftUI's `@Entry var number: Binding<Int>?`, with the name that the key has for other programs. A property over a
/// ``FocusedValueKey`` is the same in SwiftUI's longer form. The keys that all programs share are here already: ``text``,
/// ``range``, ``window`` and others.
public struct FocusedValues {
  enum Source {
    /// The currently focused values.
    case focused(FocusClient)
    /// No values: it records which keys are read and set.
    case recorder(Recorder)
  }

  /// The keys that a computed property of `FocusedValues` reads and sets.
  final class Recorder {
    var names: [String] = []
    var published: [Publication] = []
  }

  private let source: Source

  init(_ source: Source) { self.source = source }

  /// The value of a key, or nil.
  public subscript<Key: FocusedValueKey>(key: Key.Type) -> Key.Value? {
    get { self[Key.name] }
    set { self[Key.name] = newValue }
  }

  /// The value of the key that other programs call `name`, `INTERFACE.Member`, or nil.
  ///
  /// What others may do with the value depends on its type, as ``FocusedValueKey`` says. Get and set the same name.
  /// - Parameters:
  ///   - name: The key's name.
  ///   - type: The type with which fields publish a number, such as `.int32` for a key that programs in other languages
  ///     publish too; nil for the number's own.
  public subscript<Value>(name: String, as type: DBusType? = nil) -> Value? {
    get {
      switch source {
      case .focused(let client): return FocusedContent.value(Value.self, client.slot(name), client)
      case .recorder(let recorder):
        recorder.names.append(name)
        return nil
      }
    }
    set {
      guard case .recorder(let recorder) = source else { return }
      recorder.names.append(name)
      recorder.published.append(newValue.map { Publication(name, $0, as: type) } ?? Publication(name, .nothing))
    }
  }

  /// The name of the key that `keyPath` gets and sets, or nil if it computes something else from keys.
  static func name<Value>(of keyPath: KeyPath<FocusedValues, Value?>) -> String? {
    guard let keyPath = keyPath as? WritableKeyPath<FocusedValues, Value?> else { return nil }
    let recorder = Recorder()
    var values = FocusedValues(.recorder(recorder))
    guard values[keyPath: keyPath] == nil, recorder.names.count == 1 else { return nil }
    values[keyPath: keyPath] = nil
    return recorder.names.allSatisfy { $0 == recorder.names[0] } ? recorder.names[0] : nil
  }

  /// The publication of the value of `binding` at `keyPath`: a property that only its owner may write.
  static func publications<Value: DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Value?>, _ binding: Binding<Value>
  ) -> [Publication] {
    publications(keyPath, binding.wrappedValue).map { $0.replaced(by: binding, isReadOnly: true) }
  }

  /// The publication that results from setting `keyPath` to `value`.
  static func publications<Value>(
    _ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value?
  ) -> [Publication] {
    let recorder = Recorder()
    var values = FocusedValues(.recorder(recorder))
    values[keyPath: keyPath] = value
    return recorder.published
  }
}
