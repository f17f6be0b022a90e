import FocusKit
import Foundation

/// A source of truth of this program, as text in both directions.
struct Source: Sendable {
  let get: @Sendable () -> String
  let set: @Sendable (String) throws -> Void
}

/// The fields that this program shows, with what they publish.
@MainActor final class Scene {
  @FocusState var focus: String?
  private var fields: [String: FocusField] = [:]
  private(set) var sources: [String: Source] = [:]
  private(set) var buttons: [String: PlayButton] = [:]
  let saved = State(wrappedValue: 0)
  /// How often the second element's mark changed.
  let toggles = State(wrappedValue: 0)

  func field(_ id: String) throws -> FocusField {
    guard let field = fields[id] else { throw Misunderstood("no field '\(id)'") }
    return field
  }

  func remove(_ id: String) { fields[id] = nil }

  /// Registers a field: `ID [in=PARENT] WHAT[=VALUE]…`.
  func register(_ words: [String]) async throws {
    let pairs = words.dropFirst().map { word in
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
    }
    let parent = pairs.first { $0.name == "in" }.map(\.value)
    let id = words[0]
    let field = FocusField(id, label: id, parent: try parent.map(field)).focused($focus, equals: id)
    for (name, value) in pairs where name != "in" { try publish(name, value, id, field) }
    fields[id] = field
    try await field.register().registered()
  }

  private func publish(_ name: String, _ value: String, _ id: String, _ field: FocusField) throws {
    switch name {
    case "number": field.focusedValue(\.number, try state(value, "\(id).number"))
    case "constant": field.focusedValue(\.number, .constant(try decoded(value)))
    case "title": field.focusedValue(\.title, try state(encoded(value), "\(id).title") as Binding<String>)
    case "scene-title": field.focusedSceneValue(\.title, value)
    case "lamps": field.focusedValue(\.lamps, try state(value, "\(id).lamps"))
    case "person": field.focusedValue(\.person, try state(value, "\(id).person"))
    case "sensitive": field.privacySensitive()
    case "save": field.focusedValue(\.save) { [saved] in saved.wrappedValue += 1 }
    case "playing":
      let isPlaying: Binding<Bool> = try state(value, "\(id).playing")
      buttons[id] = Panel(isPlaying: isPlaying).button
      field.focusedValue(\.playing, isPlaying)
    case "size":
      let size = State(wrappedValue: Size.small)
      sources["\(id).size"] = Source(get: { size.wrappedValue.rawValue }, set: { _ in })
      field.focusedValue(\.position, size.projectedValue.position) { position in
        guard (0...1).contains(position) else { throw FocusError("the slider goes from 0 to 1, not to \(position)") }
      }
    case "todos":
      let todos: Binding<[Todo]> = try state(value, "\(id).todos")
      let toggles = toggles
      field.focusedValue(\.todos, todos) { new in
        if new.count > 2, todos.wrappedValue.count > 2, new[2].done != todos.wrappedValue[2].done {
          toggles.wrappedValue += 1
        }
      }
    default: throw Misunderstood("nothing is published as '\(name)'")
    }
  }

  private func state<Value: Codable & Sendable>(_ text: String, _ name: String) throws -> Binding<Value> {
    let state = State<Value>(wrappedValue: try decoded(text))
    sources[name] = Source(get: { encoded(state.wrappedValue) }, set: { state.wrappedValue = try decoded($0) })
    return state.projectedValue
  }
}

/// An order that means nothing.
struct Misunderstood: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

func decoded<Value: Decodable>(_ text: String) throws -> Value {
  try JSONDecoder().decode(Value.self, from: Data(text.utf8))
}

func encoded(_ value: (some Encodable)?) -> String {
  guard let value else { return "nil" }
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "?"
}
