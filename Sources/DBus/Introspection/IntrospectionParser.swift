internal import CExpat
public import DBusTypes
internal import Glibc

extension IntrospectionDocument {
  /// The most bytes that a document may have.
  public static let maximumSize = 1 << 20
  /// The most members and arguments that a document's interfaces may have in all.
  public static let maximumMembers = 4096

  /// Reads the interfaces of the document's own object that are wanted.
  ///
  /// What it says of others, and of child nodes, is passed over. So is an interface whose name is not valid, after
  /// `onInvalidName`: Qt makes such names of a program's.
  ///
  /// Members whose names or types are not valid are an error; unknown elements and annotations are passed over, as the
  /// specification asks. If it is not limited, since a trusted peer has sent it, `maximumSize` and `maximumMembers` do not hold.
  /// - Throws: `DBusError.invalidArgs` if the document is not introspection data, or is too large.
  public static func interfaces(
    in xml: String, isLimited: Bool = true, where isWanted: @escaping (InterfaceName) -> Bool = { _ in true },
    onInvalidName: @escaping (SyntaxError) -> Void = { _ in }
  ) throws(DBusError) -> [InterfaceDescription] {
    try parsed(xml, isLimited: isLimited, isWanted, onInvalidName).interfaces
  }

  /// The names of the nodes below the root's: an object's children.
  ///
  /// - Throws: `DBusError`, as `interfaces(in:)`.
  package static func children(in xml: String) throws(DBusError) -> [String] { try parsed(xml).children }

  private static func parsed(
    _ xml: String, isLimited: Bool = true, _ isWanted: @escaping (InterfaceName) -> Bool = { _ in false },
    _ onInvalidName: @escaping (SyntaxError) -> Void = { _ in }
  ) throws(DBusError) -> IntrospectionState {
    guard xml.utf8.count <= maximumSize || !isLimited else {
      throw DBusError(
        .invalidArgs, "the introspection data has \(xml.utf8.count) bytes, but at most \(maximumSize) are allowed")
    }
    guard let parser = XML_ParserCreate("UTF-8") else { throw .noMemory }
    defer { XML_ParserFree(parser) }
    let state = IntrospectionState(parser, memberLimit: isLimited ? maximumMembers : .max, isWanted, onInvalidName)
    return try withExtendedLifetime(state) { () throws(DBusError) in
      XML_SetUserData(parser, Unmanaged.passUnretained(state).toOpaque())
      XML_SetElementHandler(
        parser,
        { data, name, attributes in IntrospectionState.with(data) { $0.begin(name, attributes) } },
        { data, _ in IntrospectionState.with(data) { $0.end() } })
      // Entities and default attributes are what makes small documents grow, and introspection data needs neither.
      XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, hasDeclarations in
        guard hasDeclarations != 0 else { return }
        IntrospectionState.with(data) { $0.refuse("its DOCTYPE contains declarations, which are not allowed") }
      }
      var text = xml
      let status = text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { XML_Parse(parser, $0.baseAddress, Int32($0.count), 1) }
      }
      if status != XML_STATUS_OK, state.problem == nil {
        let reason = String(optionalCString: XML_ErrorString(XML_GetErrorCode(parser))) ?? "not well-formed"
        state.problem = "line \(XML_GetCurrentLineNumber(parser)): \(reason)"
      }
      if let problem = state.problem {
        throw DBusError(.invalidArgs, "the introspection data is not valid: \(problem)")
      }
      return state
    }
  }
}

/// What has been read so far of a document.
private final class IntrospectionState {
  /// An element that is open, as far as what it holds is of interest.
  private enum Element { case node, interface, method, signal, property, other }

  private static let maximumDepth = 64
  private static let emitsChanged = "org.freedesktop.DBus.Property.EmitsChangedSignal"

  private let parser: XML_Parser
  /// The elements that are open, outermost first.
  private var open: [Element] = []
  private let memberLimit: Int
  private let isWanted: (InterfaceName) -> Bool
  private let onInvalidName: (SyntaxError) -> Void
  private var members = 0
  private var names = NamesSeen<InterfaceName>()
  /// What the interface says of its properties that say nothing of themselves, wherever it says so.
  private var interfaceEmits = InterfaceDescription.Property.Emits.always
  private var properties = NamesSeen<MemberName>()
  /// What each of its properties says of itself, in their order.
  private var ownEmits: [InterfaceDescription.Property.Emits?] = []
  private(set) var interfaces: [InterfaceDescription] = []
  private(set) var children: [String] = []
  var problem: String?

  init(
    _ parser: XML_Parser, memberLimit: Int, _ isWanted: @escaping (InterfaceName) -> Bool,
    _ onInvalidName: @escaping (SyntaxError) -> Void
  ) {
    self.parser = parser
    self.onInvalidName = onInvalidName
    self.memberLimit = memberLimit
    self.isWanted = isWanted
  }

  static func with(_ data: UnsafeMutableRawPointer?, _ body: (IntrospectionState) -> Void) {
    guard let data else { return }
    body(Unmanaged<IntrospectionState>.fromOpaque(data).takeUnretainedValue())
  }

  func refuse(_ reason: String) {
    guard problem == nil else { return }
    problem = reason
    XML_StopParser(parser, 0)
  }

  func begin(_ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
    guard problem == nil, let name else { return }
    guard open.count < Self.maximumDepth else {
      return refuse("elements are nested more than \(Self.maximumDepth) deep")
    }
    do {
      open.append(try read(String(cString: name), XMLAttributes(attributes)))
    } catch {
      refuse("\(error)")
    }
  }

  func end() {
    guard problem == nil, open.popLast() == .interface else { return }
    for (index, own) in ownEmits.enumerated() {
      interfaces[interfaces.count - 1].properties[index].emits = own ?? interfaceEmits
    }
  }

  private func read(_ element: String, _ attributes: XMLAttributes) throws(SyntaxError) -> Element {
    let name = attributes["name"] ?? ""
    switch (open.last, element) {
    case (nil, "node"): return .node
    case (nil, _): refuse("its root is '\(element.prefix(60))', not 'node'")
    case (.node, "node"):
      if open.count == 1 { children.append(name) }
      count()
    case (.node, "interface"):
      count()
      do {
        let name = try InterfaceName(name)
        guard isWanted(name) else { break }
        beginInterface(name)
        return .interface
      } catch {
        onInvalidName(error)
      }
    case (.interface, "method"):
      let method = InterfaceDescription.Method(try MemberName(name))
      change { $0.methods.append(method) }
      return .method
    case (.interface, "signal"):
      let signal = InterfaceDescription.Signal(try MemberName(name))
      change { $0.signals.append(signal) }
      return .signal
    case (.interface, "property"):
      try addProperty(MemberName(name), DBusType(attributes["type"] ?? ""), attributes["access"] ?? "")
      return .property
    case (.method, "arg"):
      let argument = InterfaceDescription.Argument(name, try DBusType(attributes["type"] ?? ""))
      let isOutput = attributes["direction"] == "out"
      change { interface in
        guard var method = interface.methods.popLast() else { return }
        if isOutput { method.output.append(argument) } else { method.input.append(argument) }
        interface.methods.append(method)
      }
    case (.signal, "arg"):
      let argument = InterfaceDescription.Argument(name, try DBusType(attributes["type"] ?? ""))
      change { interface in
        guard var signal = interface.signals.popLast() else { return }
        signal.arguments.append(argument)
        interface.signals.append(signal)
      }
    case (.interface, "annotation"):
      interfaceEmits = emits(attributes) ?? interfaceEmits
    case (.property, "annotation"):
      if let emits = emits(attributes), !ownEmits.isEmpty { ownEmits[ownEmits.count - 1] = emits }
    default: break
    }
    return .other
  }

  private func beginInterface(_ name: InterfaceName) {
    guard names.insert(name) else { return refuse("it has the interface '\(name)' twice") }
    interfaceEmits = .always
    properties = NamesSeen()
    ownEmits = []
    interfaces.append(InterfaceDescription(name))
  }

  private func addProperty(_ name: MemberName, _ type: DBusType, _ access: String) {
    guard let access = InterfaceDescription.Property.Access(rawValue: access) else {
      return refuse("the access of the property '\(name)' is not 'read', 'write' or 'readwrite'")
    }
    guard properties.insert(name) else {
      return refuse("the interface '\(interfaces.last?.name.text ?? "")' has the property '\(name)' twice")
    }
    ownEmits.append(nil)
    change { $0.properties.append(.init(name, type, access)) }
  }

  private func change(_ body: (inout InterfaceDescription) -> Void) {
    count()
    guard var interface = interfaces.popLast() else { return }
    body(&interface)
    interfaces.append(interface)
  }

  private func count() {
    members += 1
    if members > memberLimit { refuse("it has more than \(memberLimit) members and arguments") }
  }

  private func emits(_ annotation: XMLAttributes) -> InterfaceDescription.Property.Emits? {
    guard annotation["name"] == Self.emitsChanged else { return nil }
    return .init(rawValue: annotation["value"] ?? "")
  }
}

/// The attributes of an element, as expat hands them over: names and values in turn.
private struct XMLAttributes {
  private let first: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?

  init(_ first: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) { self.first = first }

  subscript(name: String) -> String? {
    var next = first
    while let pair = next, let key = pair[0], let value = pair[1] {
      if strcmp(key, name) == 0 { return String(cString: value) }
      next = pair + 2
    }
    return nil
  }
}

/// Names that were seen, for documents that are mostly small: a set takes Swift's runtime long to make the first time.
private struct NamesSeen<Name: Hashable> {
  private static var mostInOrder: Int { 32 }

  private var inOrder: [Name] = []
  private var others: Set<Name>?

  /// Adds `name`; returns false if it is there already.
  mutating func insert(_ name: Name) -> Bool {
    if inOrder.contains(name) { return false }
    guard inOrder.count >= Self.mostInOrder else {
      inOrder.append(name)
      return true
    }
    return others?.insert(name).inserted ?? begin(with: name)
  }

  private mutating func begin(with name: Name) -> Bool {
    others = [name]
    return true
  }
}
