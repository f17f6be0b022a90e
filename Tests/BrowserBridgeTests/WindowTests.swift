import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A browser's windows, each with a connection that speaks for it alone.
@Suite struct WindowTests {
  @Test func eachWindowHasAConnectionOfItsOwn() async throws {
    try await PipeStage.with { stage in
      try await stage.opens(tab: 1, "One", in: 10)
      let one = try await stage.owner()
      #expect(try await stage.window(of: one) == .init(title: "One", isActive: true))
      try await stage.opens(tab: 2, "Two", in: 20)
      let two = try await stage.owner()
      #expect(two != one)
      #expect(try await stage.window(of: one) == .init(title: "One", isActive: false))
      #expect(try await stage.window(of: two) == .init(title: "Two", isActive: true))
      // Another tab of the first.
      try await stage.opens(tab: 3, "Three", in: 10)
      #expect(try await stage.owner() == one)
      #expect(try await stage.window(of: one) == .init(title: "Three", isActive: true))
      stage.send(#"{"type":"front"}"#)
      try await eventually("nothing focused") { try await stage.client.fields("FocusPath").isEmpty }
      #expect(try await stage.window(of: one) == .init(title: "Three", isActive: false))
      #expect(try await stage.windowError(of: one, "Size") == "UnknownProperty")
    }
  }

  @Test func aTabTakesItsElementsAlong() async throws {
    try await PipeStage.with { stage in
      try await stage.opens(tab: 1, "One", in: 10)
      stage.focus(PipeStage.text("moved"))
      try await stage.shows("Text.Content", .string("moved"))
      let one = try await stage.owner()
      stage.tell(tab: 1, "One", in: 20)
      try await eventually("another connection") {
        let owners = try await stage.client.owners()
        return owners.count == 2 && !owners.values.contains(one)
      }
      try await stage.shows("Text.Content", .string("moved"))
      #expect(try await stage.client.fields("FocusPath").count == 2)
      async let write: Void = stage.client.set("org.focusd.Text.Content", .string("there"))
      let request = try await stage.answer(
        1, #"{"type":"reply","call":CALL,"document":1,"element":1,"state":\#(PipeStage.text("there"))}"#)
      #expect(request.contains("there"))
      try await write
      #expect(try await stage.get("Text.Content") == .string("there"))
    }
  }

  /// Each window that is opened, and closed again, leaves no connection for good.
  @Test func connectionsEndWithTheirWindows() async throws {
    try await PipeStage.with { stage in
      var connections: [Int] = []
      for number in 1...20 {
        try await stage.opens(tab: number, "Tab \(number)", in: 100 + number)
        stage.send(#"{"type":"closed","tab":\#(number)}"#)
        try await eventually("no field") { try await stage.client.fields().isEmpty }
        guard case .array(let names)? = try await stage.client.askBus("ListNames").first else { continue }
        connections.append(names.count)
      }
      // One may still be closing.
      #expect((connections.last ?? 99) - (connections.first ?? 0) <= 1, "\(connections)")
    }
  }
}

/// What a connection says of its window.
private struct ToldWindow: Equatable {
  let title: String
  let isActive: Bool
}

extension PipeStage {
  fileprivate func tell(tab: Int, _ title: String, in window: Int) {
    send(#"{"type":"tab","tab":\#(tab),"window":\#(window),"title":"\#(title)","url":"https://a.org/","shared":true}"#)
  }

  fileprivate func opens(tab: Int, _ title: String, in window: Int) async throws {
    tell(tab: tab, title, in: window)
    send(#"{"type":"front","tab":\#(tab)}"#)
    try await shows("Document.Title", .string(title))
  }

  /// The connection whose field has focus.
  fileprivate func owner() async throws -> String {
    let field = try #require(try await client.fields("FocusPath").first)
    return try #require(try await client.owners()[field])
  }

  fileprivate func window(of connection: String) async throws -> ToldWindow {
    guard case .string(let title)? = try await property("Title", of: connection),
      case .boolean(let isActive)? = try await property("Active", of: connection)
    else { throw UnexpectedReply(reply: []) }
    return ToldWindow(title: title, isActive: isActive)
  }

  fileprivate func windowError(of connection: String, _ property: String) async throws -> String? {
    try await errorName { _ = try await self.property(property, of: connection) }
  }

  private func property(_ name: String, of connection: String) async throws -> DBusValue? {
    try await client.call(
      DaemonCall(
        to: connection, "/org/focusd/Bridge1/Window", Focus1.properties, "Get",
        [.string("org.focusd.Bridge1.Window"), .string(name)])
    ).first?.variantContent
  }
}
