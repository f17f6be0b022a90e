import BridgeJSON
import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with the daemon and a host, in which the test is the browser at the other end of the host's pipe.
final class PipeStage: Sendable {
  static let relay = Bundle.module.path(forResource: "relay", ofType: "py", inDirectory: "Resources") ?? ""
  static let origin = "chrome-extension://indmdfpgmnkabgfgaohcemnkhgdjobpe/"

  let desktop: TestDesktop
  /// Whoever uses what has focus.
  let client: Peer
  let relay: ManagedProcess

  private init(_ desktop: TestDesktop, _ client: Peer, _ relay: ManagedProcess) {
    (self.desktop, self.client, self.relay) = (desktop, client, relay)
  }

  /// Runs `body` with all of it, or without the daemon, and ends the host by its pipe.
  /// - Returns: what the host said.
  @discardableResult
  static func with(
    browser: String = "firefox-esr", isServed: Bool = true, _ body: (PipeStage) async throws -> Void
  ) async throws -> [String] {
    try await TestDesktop.with(isServed: isServed) { desktop in
      let client = try await desktop.peer()
      let relay = try await desktop.startHost(browser)
      let stage = PipeStage(desktop, client, relay)
      try await body(stage)
      let said = try await stage.end()
      if isServed { try await eventually("no field of the host") { try await client.fields().isEmpty } }
      return said
    }
  }

  private func end() async throws -> [String] {
    relay.closeInput()
    try await relay.finish()
    #expect(relay.progress.now.output.last == "ended 0", "\(relay.progress.now)")
    return relay.progress.now.errors
  }

  // MARK: The browser's side

  func send(_ message: String) { relay.send(line: message) }

  /// Tells of a tab that is shared, and brings it to the front.
  func show(tab: Int = 1, title: String = "Title") {
    send(#"{"type":"tab","tab":\#(tab),"title":"\#(title)","url":"https://example.org/","shared":true}"#)
    send(#"{"type":"front","tab":\#(tab)}"#)
  }

  /// Tells that an element has focus, which shows `state`.
  func focus(_ state: String, tab: Int = 1, document: Int = 1, element: Int = 1) {
    send(
      #"{"type":"focus","tab":\#(tab),"document":\#(document),"element":\#(element),"state":\#(state)}"#)
  }

  func state(_ state: String, document: Int = 1, element: Int = 1) {
    send(#"{"type":"state","document":\#(document),"element":\#(element),"state":\#(state)}"#)
  }

  static func text(_ content: String, kind: String = "text", access: String = "rw") -> String {
    let length = content.unicodeScalars.count
    return #"{"role":"textbox","name":"Entry","text":{"kind":"\#(kind)","access":"\#(access)","content":"\#(content)","#
      + #""length":\#(length),"start":\#(length),"end":\#(length),"caret":\#(length)}}"#
  }

  /// Answers the next request with `reply`, whose call is filled in.
  ///
  /// Reads count only if it is of one: on a slow machine the bridge asks once more for what it wrote.
  /// - Returns: the request, without its call.
  func answer(_ number: Int, ofRead isRead: Bool = false, _ reply: String) async throws -> String {
    let request = try await relay.progress.wait(for: "request \(number)") { progress -> String? in
      // The first line tells the host's process.
      let requests = progress.output.dropFirst().filter { isRead || !$0.contains(#""type":"read""#) }
      return requests.count >= number ? requests[number - 1] : nil
    }
    let json = try #require(JSON(Array(request.utf8)))
    let call = try #require(json["call"]?.integer)
    send(reply.replacingOccurrences(of: "CALL", with: "\(call)"))
    return request.replacingOccurrences(of: "\"call\":\(call),", with: "")
  }

  // MARK: The daemon's side

  func shows(_ key: String, _ value: DBusValue?) async throws {
    try await eventually("\(key) is \(value.map { "\($0)" } ?? "nil")") { try await self.get(key) == value }
  }

  func get(_ key: String) async throws -> DBusValue? {
    do { return try await client.read("org.focusd." + key).value } catch let error as RemoteError {
      guard error.shortName == "AccessDenied" else { throw error }
      return .string("not to be read")
    }
  }
}

extension TestDesktop {
  /// Starts a host as the child of a process that is called `browser`.
  func startHost(_ browser: String) async throws -> ManagedProcess {
    let relay = try await start([
      "/usr/bin/python3", "-B", PipeStage.relay, browser, Products.browser, PipeStage.origin, "--verbose", "--address",
      bus.address,
    ])
    try await relay.line("host")
    return relay
  }
}

/// The short name of the error that something ends with; nil if it succeeds.
func errorName(_ body: () async throws -> Void) async throws -> String? {
  do {
    try await body()
    return nil
  } catch let error as RemoteError {
    return error.shortName
  }
}
