internal import FocusContract

/// A kind of focused value: SwiftUI's `FocusedValueKey`.
///
/// ```swift
/// struct NumberKey: FocusedValueKey {
///   typealias Value = Binding<Int>
///   static let name = "demo.Form.Number"
/// }
///
/// extension FocusedValues {
///   var number: NumberKey.Value? {
///     get { self[NumberKey.self] }
///     set { self[NumberKey.self] = newValue }
///   }
/// }
/// ```
///
/// The type `Value` determines what others may do with it:
///
/// | `Value` | on the bus |
/// | --- | --- |
/// | `Binding<T>`, `T: DBusRepresentable` | a property that others may write, read-only if the binding is constant |
/// | `T: DBusRepresentable` | a read-only property |
/// | `() -> Void`, also `async` and `throws`, `@Sendable` and `@MainActor` | a command |
///
/// In the language mode 5, `@MainActor` needs `@Sendable`, which later modes add themselves.
public protocol FocusedValueKey {
  /// The type of the value.
  associatedtype Value

  /// The key's name on the bus, `INTERFACE.Member`; the default is `MODULE.FocusedValues.TYPE`.
  ///
  /// `MODULE` and `TYPE` are Swift's names, with any types that enclose `TYPE` between the two; characters other than
  /// ASCII letters, digits and `_` become `_`, and generic arguments and the file of a private type are left out. Two keys that
  /// would have the same name, and programs of different modules that share a key, must set it.
  static var name: String { get }
}

extension FocusedValueKey {
  /// The name that follows from the type: `MODULE.FocusedValues.TYPE`.
  public static var name: String { Key.standard(for: Self.self) }
}

extension Key {
  /// The name of a key whose type gives none.
  static func standard(for type: Any.Type) -> String {
    var parts: [String] = [""]
    var depth = 0
    for character in String(reflecting: type).unicodeScalars {
      switch character {
      case "(", "<": depth += 1
      case ")", ">": depth -= 1
      case "." where depth == 0: parts.append("")
      case _ where depth == 0:
        let isAllowed = character.isASCII && (character.properties.isAlphabetic || ("0"..."9").contains(character))
        parts[parts.count - 1].unicodeScalars.append(isAllowed ? character : "_")
      default: break
      }
    }
    parts.removeAll(where: \.isEmpty)
    parts.insert("FocusedValues", at: min(1, parts.count))
    return parts.map { $0.first?.isNumber == true ? "_" + $0 : $0 }.joined(separator: ".")
  }
}
