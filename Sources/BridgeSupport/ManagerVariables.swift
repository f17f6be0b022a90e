package import DBus
package import DBusTypes

extension Connection {
  /// The longest value of a variable that is taken, in bytes: no path, display or language is longer.
  private static let variableLimit = 4096

  /// Asks the user's service manager for its variables of these `names`, which a session imports into it after services have
  /// started; hands over nil without such a manager.
  package func askManagerVariables(
    _ names: Set<String>, timeout: Duration, _ handler: @escaping ([String: String]?) -> Void
  ) {
    do throws(DBusError) {
      var question = try OutgoingMessage.methodCall(
        to: BusName(known: "org.freedesktop.systemd1"), path: ObjectPath(known: "/org/freedesktop/systemd1"),
        interface: .properties, member: MemberName(known: "Get"),
        [.string("org.freedesktop.systemd1.Manager"), .string("Environment")])
      question.disableAutoStart()
      try call(question, timeout: timeout) { result in
        let values = try? result.get().success().arguments()
        handler(Self.variables(names, in: values?.first))
      }
    } catch {
      handler(nil)
    }
  }

  /// The variables of these `names` among the lines `NAME=value` of the property `Environment`; nil if it is not one.
  ///
  /// One that is empty counts as not set.
  package static func variables(_ names: Set<String>, in environment: DBusValue?) -> [String: String]? {
    guard case .variant(.array(let lines))? = environment, lines.elementType == .string else { return nil }
    var values: [String: String] = [:]
    for case .string(let line) in lines {
      guard let mark = line.firstIndex(of: "="), names.contains(String(line[..<mark])) else { continue }
      let value = line[mark...].dropFirst()
      if !value.isEmpty, value.utf8.count <= variableLimit { values[String(line[..<mark])] = String(value) }
    }
    return values
  }
}
