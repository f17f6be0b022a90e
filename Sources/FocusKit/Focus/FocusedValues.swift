/// The values published by the focused field and the fields that contain it: SwiftUI's `FocusedValues`.
///
/// A program adds its keys by extending it with computed properties over a ``FocusedValueKey``; they are always optional.
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
    get {
      switch source {
      case .focused(let client): return FocusedContent.value(Key.Value.self, client.slot(key), client)
      case .recorder(let recorder):
        recorder.names.append(Key.name)
        return nil
      }
    }
    set {
      guard case .recorder(let recorder) = source else { return }
      recorder.names.append(Key.name)
      if let newValue { recorder.published.append(Publication(Key.name, newValue)) }
    }
  }

  /// The name of the key that `keyPath` stands for, or nil if it computes something else from keys.
  static func name<Value>(of keyPath: KeyPath<FocusedValues, Value?>) -> String? {
    guard keyPath is WritableKeyPath<FocusedValues, Value?> else { return nil }
    let recorder = Recorder()
    _ = FocusedValues(.recorder(recorder))[keyPath: keyPath]
    return recorder.names.count == 1 ? recorder.names.first : nil
  }

  /// The publication of the value of `binding` at `keyPath`: a property that only its owner may write.
  static func publications<Value: DBusRepresentable>(
    _ keyPath: WritableKeyPath<FocusedValues, Value?>, _ binding: Binding<Value>
  ) -> [Publication] {
    publications(keyPath, binding.wrappedValue).map { publication in
      Publication(publication.name, .property(binding.published(nil).readOnly))
    }
  }

  /// The publication that results from setting `keyPath` to `value`.
  static func publications<Value>(
    _ keyPath: WritableKeyPath<FocusedValues, Value?>, _ value: Value
  ) -> [Publication] {
    let recorder = Recorder()
    var values = FocusedValues(.recorder(recorder))
    values[keyPath: keyPath] = value
    return recorder.published
  }
}
