public import DBusTypes

/// Which signals a connection wishes to be sent.
///
/// The D-Bus specification, section "Match Rules".
public struct MatchRule: Hashable, Sendable, CustomStringConvertible {
  /// Only those from this sender.
  public var sender: BusName?
  /// Only those from this object.
  public var path: ObjectPath?
  /// Only those from this object and what lies below it.
  public var pathNamespace: ObjectPath?
  /// Only those of this interface.
  public var interface: InterfaceName?
  /// Only those of this name.
  public var member: MemberName?
  /// Only those whose first argument is this bus name or one below it.
  public var namespace: String?
  /// Only those whose text argument of that index equals; indices up to 63.
  public var arguments: [Int: String]

  /// Creates a rule for signals; every part that is nil matches anything.
  public init(
    sender: BusName? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil,
    interface: InterfaceName? = nil, member: MemberName? = nil, namespace: String? = nil,
    arguments: [Int: String] = [:]
  ) {
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.namespace = namespace
    self.arguments = arguments
  }

  /// The rule as `AddMatch` takes it.
  public var description: String {
    var parts = ["type='signal'"]
    func add(_ name: String, _ value: String?) {
      guard let value else { return }
      parts.append("\(name)='\(Self.quoted(value))'")
    }
    add("sender", sender?.text)
    add("path", path?.text)
    add("path_namespace", pathNamespace?.text)
    add("interface", interface?.text)
    add("member", member?.text)
    add("arg0namespace", namespace)
    for (index, value) in arguments.sorted(by: { $0.key < $1.key }) { add("arg\(index)", value) }
    return parts.joined(separator: ",")
  }

  /// Within quotes only a quote is special: it ends them, follows escaped, and they begin again.
  private static func quoted(_ value: String) -> String {
    guard value.utf8.contains(UInt8(ascii: "'")) else { return value }
    return value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
  }
}
