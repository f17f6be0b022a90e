internal import DBus
package import DBusTypes
package import TestSupport

/// An object that a peer exports: introspection data, properties, and what else the test makes of it.
package final class Exported: Sendable {
  package typealias Rule = @Sendable (Incoming, Exported, PeerThread) -> Answer?

  package struct State: Sendable, CustomStringConvertible {
    package var xml: String
    package var values: [String: DBusValue]
    /// Whether a `Set` is told of, and then: before its reply.
    package var tells = true
    /// All calls so far.
    package var calls: [Incoming] = []
    /// What is asked first, by member: nil leaves it to what objects do usually.
    package var rules: [String: Rule] = [:]

    package var description: String { "calls \(calls), values \(values)" }
  }

  package let path: String
  package let owner: Peer
  package let state: Observed<State>

  /// Has `owner` export an object with `values`, whose introspection data is `xml`.
  package init(_ owner: Peer, _ xml: String, _ values: [String: DBusValue] = [:], at path: String = "/object") {
    self.path = path
    self.owner = owner
    state = Observed(State(xml: xml, values: values))
    let state = state
    owner.answer(at: path) { [self] incoming, thread in
      state.update { $0.calls.append(incoming) }
      return state.now.rules[incoming.member]?(incoming, self, thread) ?? self.usual(incoming, thread)
    }
  }

  /// Sets what is asked first for calls of `member`.
  package func rule(_ member: String, _ rule: Rule?) { state.update { $0.rules[member] = rule } }

  /// What ordinary objects do.
  package func usual(_ call: Incoming, _ thread: PeerThread) -> Answer {
    switch call.member {
    case "Introspect": return .values([.string(state.now.xml)])
    case "GetAll":
      let prefix = call.key + "."
      let own = state.now.values.filter { $0.key.hasPrefix(prefix) }
      return .values([.properties(own.map { (name: String($0.key.dropFirst(prefix.count)), value: $0.value) })])
    case "Get":
      guard let value = state.now.values[call.key] else {
        return .error("org.freedesktop.DBus.Error.UnknownProperty", "there is no \(call.key)")
      }
      return .values([.variant(value)])
    case "Set":
      guard let value = call.arguments.last?.variantContent else { return .values([]) }
      change(call.key, to: value, thread)
      return .values([])
    default: return .values(call.arguments)
    }
  }

  /// Changes a property on the peer's thread, and tells of it if that is the object's way.
  package func change(_ key: String, to value: DBusValue, _ thread: PeerThread) {
    state.update { $0.values[key] = value }
    tell(key, value, thread)
  }

  /// Changes a property as the application itself does: it is changed at once, and told of on the peer's thread.
  package func change(_ key: String, to value: DBusValue) {
    state.update { $0.values[key] = value }
    owner.perform { [self] in tell(key, value, $0) }
  }

  private func tell(_ key: String, _ value: DBusValue, _ thread: PeerThread) {
    let (interface, member) = Focus1.split(key)
    if state.now.tells { thread.emitChanged(path, interface, [(member, value)]) }
  }

  /// Changes a property and says only that it is another now.
  package func invalidate(_ key: String, to value: DBusValue) {
    state.update { $0.values[key] = value }
    let (interface, member) = Focus1.split(key)
    owner.perform { [path] in $0.emitChanged(path, interface, [], invalidated: [member]) }
  }

  /// Emits a signal of the object.
  package func emit(_ interface: String, _ member: String, _ arguments: [DBusValue] = []) {
    owner.perform { [path] in $0.emit(path, interface, member, arguments) }
  }

  /// Answers all calls that are held, by default as ordinary objects do.
  package func release(_ answer: (@Sendable (Incoming) -> Answer)? = nil) {
    owner.perform { [self] thread in thread.release { answer?($0) ?? self.usual($0, thread) } }
  }

  /// How often `member` was called, with a key where one is given.
  package func count(_ member: String, _ key: String? = nil) -> Int {
    state.now.calls.count { $0.member == member && (key == nil || $0.key == key) }
  }

  /// Waits until `member` has been called so often.
  package func called(_ member: String, times: Int = 1) async throws {
    try await state.wait(for: "\(times) calls of \(member)") { state in
      state.calls.count { $0.member == member } >= times ? () : nil
    }
  }
}

/// Introspection data of `interfaces`, each a name and its members in XML.
package func document(_ interfaces: (name: String, members: String)...) -> String {
  let own = interfaces.map { "<interface name=\"\($0.name)\">\($0.members)</interface>" }.joined()
  return """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
    <node>\(own)<interface name="org.freedesktop.DBus.Properties"/></node>
    """
}

/// A property in XML, told of as `emits` says.
package func property(_ name: String, _ type: String, _ access: String = "readwrite", emits: String = "true") -> String
{
  """
  <property name="\(name)" type="\(type)" access="\(access)">\
  <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="\(emits)"/></property>
  """
}

/// A method in XML.
package func method(_ name: String, in input: [String] = [], out output: [String] = []) -> String {
  let arguments =
    input.map { "<arg type=\"\($0)\" direction=\"in\"/>" } + output.map { "<arg type=\"\($0)\" direction=\"out\"/>" }
  return "<method name=\"\(name)\">\(arguments.joined())</method>"
}
