internal import CExpat
internal import DBusTypes

extension IntrospectionDocument {
  /// The most bytes that a document may have.
  public static let maximumSize = 1 << 20
  /// The most members that a document's interfaces may have in all.
  public static let maximumMembers = 4096

  /// Reads the interfaces of the document's own object; what it says of child nodes is passed over.
  ///
  /// Members whose names or types are not valid are an error; unknown elements and annotations are passed over, as the
  /// specification asks.
  /// - Throws: `DBusError.invalidArgs` where the document is no introspection data, or larger than it may be.
  public static func interfaces(in xml: String) throws(DBusError) -> [InterfaceDescription] {
    guard xml.utf8.count <= maximumSize else {
      throw DBusError(
        .invalidArgs, "the introspection data has \(xml.utf8.count) bytes, and \(maximumSize) is the most")
    }
    guard let parser = XML_ParserCreate("UTF-8") else { throw .noMemory }
    defer { XML_ParserFree(parser) }
    let state = IntrospectionState(parser)
    return try withExtendedLifetime(state) { () throws(DBusError) in
      XML_SetUserData(parser, Unmanaged.passUnretained(state).toOpaque())
      XML_SetElementHandler(
        parser,
        { data, name, attributes in IntrospectionState.with(data) { $0.begin(name, attributes) } },
        { data, _ in IntrospectionState.with(data) { $0.end() } })
      // Introspection data needs no entities of its own, and they are what makes small documents grow.
      XML_SetEntityDeclHandler(parser) { data, _, _, _, _, _, _, _, _ in
        IntrospectionState.with(data) { $0.refuse("it declares an entity") }
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
      return state.interfaces
    }
  }
}

/// What has been read so far of a document.
private final class IntrospectionState {
  private static let maximumDepth = 64
  private static let emitsChanged = "org.freedesktop.DBus.Property.EmitsChangedSignal"

  private let parser: XML_Parser
  /// The elements that are open, outermost first.
  private var open: [String] = []
  private var members = 0
  /// What the interface says of its properties that say nothing of themselves.
  private var interfaceEmits = InterfaceDescription.Property.Emits.always
  private(set) var interfaces: [InterfaceDescription] = []
  var problem: String?

  init(_ parser: XML_Parser) { self.parser = parser }

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
    open.append(String(cString: name))
    guard open.count <= Self.maximumDepth else { return refuse("elements lie more than \(Self.maximumDepth) deep") }
    var values: [String: String] = [:]
    var next = attributes
    while let pair = next, let key = pair[0], let value = pair[1] {
      values[String(cString: key)] = String(cString: value)
      next = pair + 2
    }
    do {
      try read(values)
    } catch {
      refuse("\(error)")
    }
  }

  func end() { if !open.isEmpty { open.removeLast() } }

  private func read(_ attributes: [String: String]) throws(SyntaxError) {
    let name = attributes["name"] ?? ""
    switch open.joined(separator: "/") {
    case "node/interface":
      interfaceEmits = .always
      interfaces.append(InterfaceDescription(try InterfaceName(name)))
      count()
    case "node/interface/annotation": readAnnotation(of: nil, attributes)
    case "node/interface/method":
      let method = InterfaceDescription.Method(try MemberName(name))
      change { $0.methods.append(method) }
    case "node/interface/method/arg":
      let argument = InterfaceDescription.Argument(name, try DBusType(attributes["type"] ?? ""))
      let isOutput = attributes["direction"] == "out"
      change { interface in
        guard var method = interface.methods.popLast() else { return }
        if isOutput { method.output.append(argument) } else { method.input.append(argument) }
        interface.methods.append(method)
      }
    case "node/interface/signal":
      let signal = InterfaceDescription.Signal(try MemberName(name))
      change { $0.signals.append(signal) }
    case "node/interface/signal/arg":
      let argument = InterfaceDescription.Argument(name, try DBusType(attributes["type"] ?? ""))
      change { interface in
        guard var signal = interface.signals.popLast() else { return }
        signal.arguments.append(argument)
        interface.signals.append(signal)
      }
    case "node/interface/property":
      guard let access = InterfaceDescription.Property.Access(rawValue: attributes["access"] ?? "") else {
        return refuse("the property '\(name)' has no access of 'read', 'write' or 'readwrite'")
      }
      let property = InterfaceDescription.Property(
        try MemberName(name), try DBusType(attributes["type"] ?? ""), access, emits: interfaceEmits)
      change { $0.properties.append(property) }
    case "node/interface/property/annotation": readAnnotation(of: interfaces.last?.properties.last, attributes)
    case "node": break
    default:
      if open.count == 1 { refuse("its root is '\(open[0])' and not 'node'") }
    }
  }

  private func change(_ body: (inout InterfaceDescription) -> Void) {
    count()
    guard var interface = interfaces.popLast() else { return }
    body(&interface)
    interfaces.append(interface)
  }

  private func count() {
    members += 1
    if members > IntrospectionDocument.maximumMembers {
      refuse("it has more than \(IntrospectionDocument.maximumMembers) members")
    }
  }

  private func readAnnotation(of property: InterfaceDescription.Property?, _ attributes: [String: String]) {
    guard attributes["name"] == Self.emitsChanged,
      let emits = InterfaceDescription.Property.Emits(rawValue: attributes["value"] ?? "")
    else { return }
    guard property != nil else {
      // It holds for the interface's properties wherever it stands among them.
      interfaceEmits = emits
      return change { interface in
        for index in interface.properties.indices where interface.properties[index].emits == .always {
          interface.properties[index].emits = emits
        }
      }
    }
    change { interface in
      guard var property = interface.properties.popLast() else { return }
      property.emits = emits
      interface.properties.append(property)
    }
  }
}
