/// The values of an array, all of one type; an empty array has its type too.
///
/// Bytes are stored as bytes, so an `ay` takes one byte per element.
public struct DBusArray: Sendable {
  private enum Storage {
    case bytes([UInt8])
    case values([DBusValue])
  }

  /// The type of every element.
  public let elementType: DBusType
  private var storage: Storage

  /// Creates an array of `elements`.
  /// - Throws: `TypeMismatch` if an element is not of `elementType`.
  public init(of elementType: DBusType, _ elements: [DBusValue] = []) throws(TypeMismatch) {
    for element in elements where element.type != elementType {
      throw TypeMismatch(expected: elementType, actual: element.type)
    }
    self.init(known: elementType, elements)
  }

  /// Creates an array of type `ay`.
  public init(bytes: [UInt8]) {
    self.elementType = .byte
    self.storage = .bytes(bytes)
  }

  package init(known elementType: DBusType, _ elements: [DBusValue]) {
    self.elementType = elementType
    guard elementType == .byte else {
      self.storage = .values(elements)
      return
    }
    self.storage = .bytes(
      elements.map {
        guard case .byte(let byte) = $0 else { return 0 }
        return byte
      })
  }

  /// The elements of an `ay`, else nil.
  public var bytes: [UInt8]? {
    guard case .bytes(let bytes) = storage else { return nil }
    return bytes
  }
}

extension DBusArray: RandomAccessCollection {
  /// The index of the first element.
  public var startIndex: Int { 0 }

  /// The number of elements.
  public var endIndex: Int {
    switch storage {
    case .bytes(let bytes): bytes.count
    case .values(let values): values.count
    }
  }

  /// The element at `index`, which must be within the array, as in `Array`.
  public subscript(index: Int) -> DBusValue {
    switch storage {
    case .bytes(let bytes): .byte(bytes[index])
    case .values(let values): values[index]
    }
  }
}

extension DBusArray: Hashable {
  /// Compares the element types and the elements.
  public static func == (left: DBusArray, right: DBusArray) -> Bool {
    switch (left.storage, right.storage) {
    case (.bytes(let a), .bytes(let b)): a == b
    case (.values(let a), .values(let b)): left.elementType == right.elementType && a == b
    default: false
    }
  }

  /// Feeds the elements into `hasher`.
  public func hash(into hasher: inout Hasher) {
    switch storage {
    case .bytes(let bytes): hasher.combine(bytes)
    case .values(let values): hasher.combine(values)
    }
  }
}

/// A value of an unexpected type.
public struct TypeMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  /// The expected type.
  public let expected: DBusType
  /// The actual type.
  public let actual: DBusType

  /// Creates an error about a value of type `actual` instead of `expected`.
  public init(expected: DBusType, actual: DBusType) {
    self.expected = expected
    self.actual = actual
  }

  /// The whole error in one sentence.
  public var description: String { "the value is of type '\(actual)', but '\(expected)' is expected" }
}
