/// What the command line asks for.
struct Options {
  static let usage = """
    usage: Benchmarks [--quick] [--only GROUP]... [--json FILE] [--previous FILE] [--save FILE]
      --quick          fewer rounds
      --only GROUP     this group, and each other one that is named so, of \(Group.all.map(\.name).joined(separator: ", "))
      --json FILE      writes figures and details
      --previous FILE  compares with the figures in FILE
      --save FILE      writes the figures for later runs to be compared with
    """

  var isQuick = false
  var only: [String] = []
  var jsonFile: String?
  var previousFile: String?
  var saveFile: String?

  /// - Throws: `UsageError`.
  init(_ arguments: some Sequence<String>) throws {
    var rest = arguments.makeIterator()
    func value(of option: String) throws -> String {
      guard let value = rest.next() else { throw UsageError(description: "\(option) needs a value") }
      return value
    }
    while let option = rest.next() {
      switch option {
      case "--quick": isQuick = true
      case "--only":
        let name = try value(of: option)
        guard Group.all.contains(where: { $0.name == name }) else {
          throw UsageError(description: "unknown group '\(name)'")
        }
        only.append(name)
      case "--json": jsonFile = try value(of: option)
      case "--previous": previousFile = try value(of: option)
      case "--save": saveFile = try value(of: option)
      default: throw UsageError(description: "unknown option '\(option)'")
      }
    }
    if saveFile != nil, !only.isEmpty { throw UsageError(description: "--save keeps all groups, not --only some") }
  }
}

/// Words of the command line that mean nothing.
struct UsageError: Error, CustomStringConvertible {
  let description: String
}
