public import DBusTypes

/// A method that an object serves: what it looks like, and what carries it out.
public final class ServedMethod<Handler> {
  /// What introspection shows.
  public let description: InterfaceDescription.Method
  /// What carries it out.
  public let handler: Handler
  @usableFromInline let signature: String

  /// Creates a method.
  public init(_ description: InterfaceDescription.Method, _ handler: Handler) {
    self.description = description
    self.handler = handler
    signature = description.input.map(\.type.description).joined()
  }

  /// Checks that a call carries what the method takes.
  /// - Throws: `DBusError.invalidArgs`.
  @inlinable
  public func check(signature given: String) throws(DBusError) {
    guard given != signature else { return }
    throw mismatch(given)
  }

  @usableFromInline
  func mismatch(_ given: String) -> DBusError {
    let takes = description.input.map { $0.name.isEmpty ? "'\($0.type)'" : "\($0.name) '\($0.type)'" }
    return DBusError(
      .invalidArgs,
      "\(description.name) takes \(takes.isEmpty ? "no arguments" : takes.joined(separator: ", ")), and '\(given)' was "
        + "given")
  }
}

/// A property that an object serves: what it looks like, and what reads and writes it.
public final class ServedProperty<Handler> {
  /// What introspection shows.
  public let description: InterfaceDescription.Property
  /// What reads and writes it.
  public let handler: Handler
  /// The name and the type as an entry of `a{sv}` begins with them.
  private let head: [UInt8]

  /// Creates a property.
  public init(_ description: InterfaceDescription.Property, _ handler: Handler) {
    self.description = description
    self.handler = handler
    var writer = WireWriter()
    writer.append(description.name.text)
    writer.append(signature: description.type.description)
    head = writer.finish()
  }

  /// Writes an entry of `a{sv}`: the property's name, and `value`, which is of its type.
  public func append(_ value: DBusValue, to writer: inout WireWriter) {
    writer.append(raw: head, alignment: 8)
    writer.append(value)
  }
}

/// One interface of an object as a table: its description, and what carries out each member.
///
/// Who serves the object gives the handlers' types: the table finds members and says what is wrong with a call.
public final class ServedInterface<MethodHandler, PropertyHandler> {
  /// The interface's name.
  public let name: InterfaceName
  /// What introspection shows.
  public let description: InterfaceDescription
  /// The properties, in the order in which they are shown.
  public let properties: [ServedProperty<PropertyHandler>]
  @usableFromInline let methods: [String: ServedMethod<MethodHandler>]

  /// Creates a table; of two methods of one name the first counts.
  public init(
    _ name: InterfaceName, methods: [ServedMethod<MethodHandler>] = [], signals: [InterfaceDescription.Signal] = [],
    properties: [ServedProperty<PropertyHandler>] = []
  ) {
    self.name = name
    self.properties = properties
    self.methods = Dictionary(methods.map { ($0.description.name.text, $0) }) { first, _ in first }
    description = InterfaceDescription(
      name, methods: methods.map(\.description), signals: signals, properties: properties.map(\.description))
  }

  /// The method `name`, or nil.
  @inlinable
  public func method(_ name: MemberName) -> ServedMethod<MethodHandler>? { methods[name.text] }

  /// The property `name`.
  /// - Throws: `DBusError.unknownProperty`.
  @inlinable
  public func property(_ name: String) throws(DBusError) -> ServedProperty<PropertyHandler> {
    for property in properties where property.description.name.text.utf8.elementsEqual(name.utf8) { return property }
    throw unknownProperty(name)
  }

  /// The error for a property that the interface does not have.
  public func unknownProperty(_ name: String) -> DBusError {
    let known = properties.map(\.description.name.text).listed
    return DBusError(.unknownProperty, "the interface \(self.name) has no property '\(name.excerpt)': it has \(known)")
  }

  /// The error for a method that the interface does not have.
  @usableFromInline
  func unknownMethod(_ name: MemberName) -> DBusError {
    let known = methods.keys.sorted().listed
    return DBusError(.unknownMethod, "the interface \(self.name) has no method '\(name)': it has \(known)")
  }
}

// The tables of a program are shared by all its threads if what they hold may be.
extension ServedInterface: @unchecked Sendable where MethodHandler: Sendable, PropertyHandler: Sendable {}
extension ServedMethod: Sendable where Handler: Sendable {}
extension ServedProperty: Sendable where Handler: Sendable {}

/// The tables of one object, as a call looks them up.
public struct ServedInterfaces<MethodHandler, PropertyHandler> {
  /// The type of each table.
  public typealias Interface = ServedInterface<MethodHandler, PropertyHandler>

  /// The tables, in the order in which they are shown.
  public let all: [Interface]

  /// Puts tables together.
  public init(_ all: [Interface]) { self.all = all }

  /// What `Introspect` replies for an object that has these and no children.
  public var introspection: String { IntrospectionDocument.xml(interfaces: all.map(\.description), children: []) }

  /// The interface `name`, or nil.
  @inlinable
  public subscript(name: String) -> Interface? { all.first { $0.name.text == name } }

  /// The method `member` of the first interface that has it, or nil.
  @inlinable
  public func method(_ member: MemberName) -> ServedMethod<MethodHandler>? {
    for table in all {
      if let method = table.method(member) { return method }
    }
    return nil
  }

  /// The method `member` of `interface`, or without one of the first interface that has it.
  /// - Throws: `DBusError`: `unknownMethod`, `unknownInterface`; `path` is the object's, for their text.
  @inlinable
  public func method(
    _ member: MemberName, of interface: InterfaceName?, at path: ObjectPath
  ) throws(DBusError) -> ServedMethod<MethodHandler> {
    guard let interface else {
      guard let method = method(member) else {
        throw DBusError(.unknownMethod, "no interface of \(path) has a method '\(member)': Introspect shows them")
      }
      return method
    }
    guard let table = self[interface.text] else {
      throw unknownInterface(interface.text, at: path.text)
    }
    guard let method = table.method(member) else { throw table.unknownMethod(member) }
    return method
  }

  /// The error for an interface that an object does not have.
  public func unknownInterface(_ name: String, at object: String) -> DBusError {
    DBusError(.unknownInterface, "\(object) has no interface '\(name.excerpt)': it has \(all.map(\.name.text).listed)")
  }
}

extension [String] {
  fileprivate var listed: String { isEmpty ? "none" : joined(separator: ", ") }
}

extension ServedInterfaces: Sendable where MethodHandler: Sendable, PropertyHandler: Sendable {}
