public import DBusTypes
public import FocusContract

/// What a read or write is about: a key, and which element of its value.
public struct BindingPath: Hashable, Sendable, CustomStringConvertible {
  /// The key.
  public let key: Key
  /// The element of its value.
  public let pointer: Pointer

  /// Creates a path to the whole value of `key`, or to an element of it.
  public init(_ key: Key, _ pointer: Pointer = .whole) {
    (self.key, self.pointer) = (key, pointer)
  }

  /// Reads a key that a JSON Pointer may follow: `demo.Todo.Items/2/done`.
  /// - Throws: `ModelError.invalid` if the key or the pointer is not valid.
  public init(_ text: String) throws(ModelError) {
    let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
    do throws(SyntaxError) {
      key = try Key(String(text[..<slash]))
      pointer = try Pointer(String(text[slash...]))
    } catch {
      throw .invalid(error.description)
    }
  }

  /// The path's text.
  public var description: String { key.description + pointer.description }
}

extension BindingPath {
  /// The element of `value` that the path leads to.
  /// - Throws: `ModelError.noSuchElement`.
  func element(of value: MarshalledValue) throws(ModelError) -> MarshalledValue {
    do { return try value.element(at: pointer) } catch { throw ModelError(key, error) }
  }

  /// What the path leads to in `whole` after a write there; after an append, the array's last element.
  /// - Throws: `ModelError.noSuchElement`.
  func written(to whole: MarshalledValue) throws(ModelError) -> MarshalledValue {
    guard pointer.tokens.last == "-" else { return try element(of: whole) }
    let array = BindingPath(key, Pointer(tokens: pointer.tokens.dropLast()))
    guard let count = try array.element(of: whole).lookedThrough.arrayCount else { return try element(of: whole) }
    return try BindingPath(key, Pointer(tokens: array.pointer.tokens + [String(count - 1)])).element(of: whole)
  }

  /// `whole` with what the path leads to replaced by `value`; a number is converted if nothing is lost, and a whole value may
  /// be of another type that is `declared`.
  /// - Throws: `ModelError`: `noSuchElement`, `typeMismatch`.
  func replacing(
    _ whole: MarshalledValue, with value: MarshalledValue, declared: DBusType? = nil
  ) throws(ModelError) -> MarshalledValue {
    guard !pointer.tokens.isEmpty else {
      if value.hasSameType(as: whole) { return value }
      let (told, given) = (whole.type, value.type)
      if given == declared { return value }
      guard let number = value.converted(to: told) ?? declared.flatMap({ value.converted(to: $0) }) else {
        throw .typeMismatch(self, expected: told, actual: given)
      }
      return number
    }
    do { return try whole.replacingElement(at: pointer, with: value) } catch { throw ModelError(key, error) }
  }
}
