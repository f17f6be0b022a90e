import BusSupport
import DBusTypes

/// A method as introspection shows it.
struct IntrospectedMethod: Sendable {
  let path: String
  let interface: String
  let name: String
  var input: [DBusType] = []
  var output: [DBusType] = []
}

extension Peer {
  /// Every method of every object, found from the root on.
  func allMethods() async throws -> [IntrospectedMethod] {
    var methods: [IntrospectedMethod] = []
    var paths = ["/"]
    while let path = paths.popLast() {
      let document = try await introspect(path)
      var interface = ""
      var isMethod = false
      for tag in document.split(separator: "<").dropFirst() {
        let attributes = Self.attributes(of: tag)
        let name = attributes["name"] ?? ""
        switch tag.prefix(while: { $0.isLetter || $0 == "/" }) {
        case "node" where !name.isEmpty: paths.append(path == "/" ? "/" + name : path + "/" + name)
        case "interface": interface = name
        case "method":
          isMethod = true
          methods.append(IntrospectedMethod(path: path, interface: interface, name: name))
        case "signal", "property": isMethod = false
        case "arg" where isMethod:
          let type = try DBusType(attributes["type"] ?? "")
          if attributes["direction"] == "out" {
            methods[methods.count - 1].output.append(type)
          } else {
            methods[methods.count - 1].input.append(type)
          }
        default: break
        }
      }
    }
    return methods
  }

  private static func attributes(of tag: Substring) -> [String: String] {
    var attributes: [String: String] = [:]
    for match in tag.matches(of: /([a-z]+)="([^"]*)"/) { attributes[String(match.1)] = String(match.2) }
    return attributes
  }
}
