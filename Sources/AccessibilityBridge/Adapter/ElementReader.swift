internal import DBus
internal import DBusTypes
internal import EventLoop

/// Reads one element, in few rounds of questions that are asked at once.
final class ElementReader {
  typealias Outcome = Result<ElementSnapshot, DBusError>

  /// What is known before an element is read.
  struct Context {
    let toolkit: Toolkit
    let showsTerminals: Bool
    /// Whether it was secret before: then it is for good.
    let isSecret: Bool
    /// What was read before: what never changes is not asked again.
    let before: ElementSnapshot?
  }

  /// An object that was told of may be exported only later.
  private static let retries: [Duration] = [.milliseconds(30), .milliseconds(100)]

  private let bus: AccessibilityBus
  private let element: ElementReference
  private let context: Context
  private let handler: (Outcome) -> Void
  private var attempt = 0
  /// What was read before of the same object, as far as its role tells: a path may be another object's later.
  private var before: ElementSnapshot?
  private var snapshot = ElementSnapshot(role: ElementRole(rawValue: 0))
  private var attributes: [String: String] = [:]
  private var error: DBusError?

  private init(
    _ bus: AccessibilityBus, _ element: ElementReference, _ context: Context, _ handler: @escaping (Outcome) -> Void
  ) {
    (self.bus, self.element, self.context, self.handler) = (bus, element, context, handler)
    before = context.before
  }

  /// Reads `element`, and calls `handler` once.
  static func read(
    _ element: ElementReference, on bus: AccessibilityBus, _ context: Context, _ handler: @escaping (Outcome) -> Void
  ) {
    ElementReader(bus, element, context, handler).begin()
  }

  /// The role decides what may be asked next.
  private func begin() {
    error = nil
    let answers = Answers { [self] in identified() }
    bus.ask(
      element, "GetRole",
      answers.expect { [self] answer in
        switch answer {
        case .success(let values):
          if case .uint32(let role)? = values.first { snapshot.role = ElementRole(rawValue: role) }
        case .failure(let problem): error = problem
        }
      })
    bus.ask(
      element, "GetState",
      answers.expect { [self] answer in
        if case .success(let values) = answer, let states = ElementStates(values.first) { snapshot.states = states }
      })
    text("Name", \.name, answers)
    text("Description", \.description, answers)
    if let before {
      (snapshot.interfaces, snapshot.actions) = (before.interfaces, before.actions)
    } else {
      askInterfaces(answers)
    }
    // Each time: a page may call an entry a password only from now on.
    bus.ask(
      element, "GetAttributes",
      answers.expect { [self] answer in
        guard case .success(let values) = answer, case .dictionary(let entries)? = values.first else { return }
        for entry in entries.entries { attributes[entry.key.basicText ?? ""] = entry.value.basicText }
      })
    answers.finish()
  }

  private func askInterfaces(_ answers: Answers) {
    bus.ask(
      element, "GetInterfaces",
      answers.expect { [self] answer in
        switch answer {
        case .success(let values):
          guard case .array(let names)? = values.first else {
            error = DBusError(.failed, "the program told no interfaces")
            return
          }
          snapshot.interfaces = ElementSnapshot.Interfaces(names: names.compactMap(\.basicText))
        case .failure(let problem): error = problem
        }
      })
  }

  private func text(_ property: String, _ place: WritableKeyPath<ElementSnapshot, String>, _ answers: Answers) {
    bus.get(
      element, AccessibilityNames.accessible, property,
      answers.expect { [self] result in
        guard case .success(.string(let text)?) = result else { return }
        snapshot[keyPath: place] = context.toolkit.isClassName(text) ? "" : text
      })
  }

  private func identified() {
    if let error {
      guard [.unknownMethod, .unknownObject, .unknownInterface].contains(error.name),
        attempt < Self.retries.count
      else { return handler(.failure(error)) }
      bus.loop.schedule(after: Self.retries[attempt]) { [self] in begin() }
      attempt += 1
      return
    }
    if let before, before.role != snapshot.role {
      self.before = nil
      let answers = Answers { [self] in identified() }
      askInterfaces(answers)
      return answers.finish()
    }
    snapshot.isSecret = context.isSecret || SecretRule.isSecret(snapshot.role, attributes: attributes)
    let answers = Answers { [self] in
      if let error { handler(.failure(error)) } else { handler(.success(snapshot)) }
    }
    readText(answers)
    readRange(answers)
    readActions(answers)
    answers.finish()
  }

  private func readText(_ answers: Answers) {
    guard snapshot.interfaces.contains(.text), !snapshot.isSecret,
      snapshot.role != .terminal || context.showsTerminals
    else { return }
    TextReader.read(
      element, on: bus, tellsDisplay: context.toolkit.tellsDisplay,
      isMultiLine: snapshot.states.contains(.multiLine),
      answers.expect { [self] outcome in
        switch outcome {
        case .text(let text): snapshot.text = text
        case .secret: snapshot.isSecret = true
        case .failed(let problem) where [.timeout, .noReply, .disconnected].contains(problem.name): error = problem
        case .failed: break
        }
      })
  }

  private func readRange(_ answers: Answers) {
    guard snapshot.interfaces.contains(.value), snapshot.role.range != nil, !snapshot.isSecret else { return }
    let before = before?.range ?? RangeReading(value: 0, minimum: 0, maximum: 0, step: 0)
    snapshot.range = before
    for (property, place) in Self.rangeProperties {
      bus.get(
        element, AccessibilityNames.value, property,
        answers.expect { [self] result in
          if case .success(.double(let number)?) = result { snapshot.range?[keyPath: place] = number }
        })
    }
  }

  private static var rangeProperties: [(String, WritableKeyPath<RangeReading, Double>)] {
    [
      ("CurrentValue", \.value), ("MinimumValue", \.minimum), ("MaximumValue", \.maximum),
      ("MinimumIncrement", \.step),
    ]
  }

  private func readActions(_ answers: Answers) {
    guard snapshot.interfaces.contains(.action), before == nil else { return }
    bus.call(
      element, AccessibilityNames.action, "GetActions", [],
      answers.expect { [self] answer in
        guard case .success(let values) = answer, case .array(let actions)? = values.first else { return }
        snapshot.actions = actions.prefix(64).map { action in
          guard case .structure(let members) = action, case .string(let name)? = members.first else { return "" }
          return name
        }
        for (index, name) in snapshot.actions.prefix(8).enumerated() where name.isEmpty {
          readName(ofAction: index, answers)
        }
      })
  }

  /// Chromium tells the names of its actions only one by one.
  private func readName(ofAction index: Int, _ answers: Answers) {
    bus.call(
      element, AccessibilityNames.action, "GetName", [.int32(Int32(index))],
      answers.expect { [self] answer in
        guard case .success(let values) = answer, case .string(let name)? = values.first,
          snapshot.actions.indices.contains(index)
        else { return }
        snapshot.actions[index] = name
      })
  }
}

/// What draws a program's elements.
struct Toolkit: Equatable {
  let name: String
  let version: String

  /// Whether it tells what a text displays beside what it stores.
  ///
  /// One that does not tell its name may be GTK.
  var tellsDisplay: Bool { isGTK || name.isEmpty }

  private var isGTK: Bool { name.lowercased() == "gtk" }

  /// Whether `name` is what GTK 4 tells of an element without a name: that of its class.
  func isClassName(_ name: String) -> Bool {
    mustBePolled && name.hasPrefix("Gtk") && name.utf8.allSatisfy { $0 >= UInt8(ascii: "A") }
  }

  /// Whether it tells no changes of a range that the keyboard makes.
  var mustBePolled: Bool { isGTK && version.hasPrefix("4") }
}
