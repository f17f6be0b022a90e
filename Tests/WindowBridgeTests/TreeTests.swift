import BridgeJSON
import Testing
import WindowBridge

/// The protocol of sway and i3, without a socket.
@Suite struct TreeTests {
  private static func json(_ text: String) throws -> JSON { try #require(JSON(Array(text.utf8))) }

  private static func view(_ id: Int, _ title: String, focused: Bool = false, pid: Int = 42) -> String {
    """
    {"id":\(id),"type":"con","name":"\(title)","focused":\(focused),"pid":\(pid),"app_id":"foot","window":null,
     "nodes":[],"floating_nodes":[]}
    """
  }

  private static func tree(_ workspaces: [String: String]) -> String {
    let list = workspaces.sorted { $0.key < $1.key }.map {
      """
      {"id":99,"type":"workspace","name":"\($0.key)","nodes":[\($0.value)],"floating_nodes":[]}
      """
    }
    return """
      {"id":1,"type":"root","nodes":[{"id":2,"type":"output","nodes":[\(list.joined(separator: ","))]},
      {"id":8,"type":"dockarea","nodes":[{"id":9,"type":"con","window":77}]}]}
      """
  }

  @Test func theTreeTellsWindowsAndWhichIsInFront() throws {
    var state = TreeState()
    let x = """
      {"id":7,"type":"floating_con","name":null,"focused":false,"window":123,"window_properties":{"class":"XTerm"},
       "nodes":[],"floating_nodes":[]}
      """
    let split = #"{"id":6,"type":"con","window":null,"nodes":["# + Self.view(5, "one", focused: true) + "," + x + "]}"
    state.tree(try Self.json(Self.tree(["1": split, "mail": Self.view(10, "two", pid: 1)])))
    #expect(state.desktop.front == WindowID(5))
    let actions: Set<WindowAction> = [.close, .fullscreen, .float]
    let expected: [WindowID: Window] = [
      WindowID(5): Window(title: "one", application: "foot", process: 42, workspace: "1", actions: actions),
      WindowID(7): Window(title: "", application: "XTerm", workspace: "1", actions: actions),
      // The first process is nobody's.
      WindowID(10): Window(title: "two", application: "foot", workspace: "mail", actions: actions),
    ]
    #expect(state.desktop.windows == expected)
    // The scratchpad is no workspace that anybody sees.
    state.tree(try Self.json(Self.tree(["__i3_scratch": Self.view(5, "one")])))
    #expect(state.desktop.windows[WindowID(5)].map(\.workspace) == .some(nil))
    // The workspace has focus, or the container of both.
    state.tree(try Self.json(Self.tree(["1": Self.view(5, "one")])))
    #expect(state.desktop.front == nil)
  }

  /// A launcher or a lock has the keyboard in sway: what had focus last is in front.
  @Test func whatHadFocusLastIsInFrontWhileNothingHasIt() throws {
    var state = TreeState()
    func tree(_ hasFocus: Bool, _ focus: String) -> String {
      """
      {"id":1,"type":"root","focus":[2],"nodes":[{"id":2,"type":"output","focus":[4,3],"nodes":[
      {"id":3,"type":"workspace","name":"1","focus":[5],"nodes":[\(Self.view(5, "one"))]},
      {"id":4,"type":"workspace","name":"2","focused":\(hasFocus),"focus":\(focus),
       "nodes":[\(Self.view(6, "two"))],"floating_nodes":[\(Self.view(7, "three"))]}]}]}
      """
    }
    for (hasFocus, focus, front) in [
      (false, "[7,6]", 7), (false, "[6,7]", 6), (true, "[6,7]", nil), (false, "[]", nil),
    ]
      as [(Bool, String, UInt64?)]
    {
      state.tree(try Self.json(tree(hasFocus, focus)))
      #expect(state.desktop.front == front.map { WindowID($0) }, "\(focus)")
      #expect(state.desktop.windows.count == 3)
    }
  }

  @Test func eventsChangeWhatTheTreeSaid() throws {
    var state = TreeState()
    state.tree(try Self.json(Self.tree(["1": Self.view(5, "one", focused: true) + "," + Self.view(6, "two")])))
    // (the event, whether the tree is needed, who is in front, the titles)
    let steps: [(String, Bool, UInt64?, [String])] = [
      (#"{"change":"focus","container":"# + Self.view(6, "two") + "}", false, 6, ["one", "two"]),
      (#"{"change":"title","container":"# + Self.view(5, "uno") + "}", false, 6, ["uno", "two"]),
      (#"{"change":"new","container":"# + Self.view(9, "new") + "}", true, 6, ["uno", "two", "new"]),
      (
        #"{"change":"focus","container":{"id":50,"type":"con","window":null,"nodes":[]}}"#, true, nil,
        ["uno", "two", "new"]
      ),
      // Its workspace is not known yet.
      (#"{"change":"focus","container":"# + Self.view(9, "new") + "}", true, 9, ["uno", "two", "new"]),
      (#"{"change":"close","container":"# + Self.view(9, "new") + "}", true, nil, ["uno", "two"]),
      (#"{"change":"move","container":"# + Self.view(6, "two") + "}", true, nil, ["uno", "two"]),
      (#"{"change":"focus"}"#, true, nil, ["uno", "two"]), ("[]", true, nil, ["uno", "two"]),
      (#"{"change":5,"container":{"id":"x"}}"#, true, nil, ["uno", "two"]),
    ]
    for (event, needsTree, front, titles) in steps {
      #expect(state.windowEvent(try Self.json(event)) == needsTree, "\(event)")
      #expect(state.desktop.front == front.map { WindowID($0) }, "\(event)")
      #expect(state.desktop.windows.sorted { $0.key < $1.key }.map(\.value.title) == titles, "\(event)")
    }
    // A window keeps its workspace, which events do not tell; an application's identifier may come late.
    let late = #"{"change":"title","container":{"id":5,"type":"con","pid":42,"name":"uno","app_id":"late"}}"#
    _ = state.windowEvent(try Self.json(late))
    #expect(state.desktop.windows[WindowID(5)]?.workspace == "1")
    #expect(state.desktop.windows[WindowID(5)]?.application == "late")
    // Only of an empty workspace nothing else is told.
    _ = state.windowEvent(try Self.json(#"{"change":"focus","container":"# + Self.view(5, "uno") + "}"))
    state.workspaceEvent(try Self.json(#"{"change":"focus","current":{"nodes":["# + Self.view(6, "two") + "]}}"))
    #expect(state.desktop.front == WindowID(5))
    state.workspaceEvent(try Self.json(#"{"change":"focus","current":{"nodes":[],"floating_nodes":[]}}"#))
    #expect(state.desktop.front == nil)
  }

  /// Of a window that comes from the scratchpad, or by a swap of containers, only its focus is told.
  @Test func theTreeIsReadAgainForAWindowThatIsElsewhere() throws {
    // (the workspaces in the tree, the one told to have focus since, the window that gets it, whether the tree is needed)
    let front = Self.view(5, "one", focused: true)
    let two = Self.view(6, "two")
    let cases: [([String: String], String?, Int, Bool)] = [
      (["1": front + "," + two], nil, 6, false), (["1": front, "2": two], nil, 6, true),
      (["1": front, "2": two], "2", 6, false), (["1": front, "2": two], "3", 6, true),
      (["1": front, "__i3_scratch": two], nil, 6, true), (["1": two, "2": front], nil, 5, false),
      // Nothing has focus, such as while a launcher has the keyboard.
      (["1": two], nil, 6, true), (["1": two], "1", 6, false),
    ]
    for (workspaces, current, window, needsTree) in cases {
      var state = TreeState()
      state.tree(try Self.json(Self.tree(workspaces)))
      if let current {
        state.workspaceEvent(try Self.json(#"{"change":"focus","current":{"name":"\#(current)","nodes":[]}}"#))
      }
      let focus = #"{"change":"focus","container":"# + Self.view(window, "x") + "}"
      #expect(state.windowEvent(try Self.json(focus)) == needsTree, "\(workspaces), \(current ?? "")")
    }
  }

  @Test func answersTellWhatWasRefused() throws {
    let cases: [(String, String?)] = [
      (#"[{"success":true}]"#, nil),
      (#"[{"success":true},{"success":false,"error":"no such thing"}]"#, "no such thing"),
      (#"[{"success":false}]"#, "the window manager refuses"), ("[]", nil),
    ]
    for (answer, expected) in cases { #expect(TreeState.refusal(try Self.json(answer)) == expected) }
    #expect(TreeState.refusal(nil) != nil)
    #expect(TreeState.command(.float, on: WindowID(5)) == "[con_id=5] floating toggle")
    #expect(TreeState.command(.minimize, on: WindowID(5)) == nil)
  }

  @Test func messagesArriveInAnyPieces() throws {
    let messages = (0..<5).map { TreeMessage.bytes(.runCommand, String(repeating: "x", count: $0 * 7)) }
    let bytes = messages.flatMap(\.self)
    for size in [1, 2, 13, 14, 15, 33, bytes.count] {
      var (queue, lengths) = (ByteQueue(), [Int]())
      for start in stride(from: 0, to: bytes.count, by: size) {
        queue.append(Array(bytes[start..<min(start + size, bytes.count)]))
        while let frame = try queue.nextFrame() { lengths.append(frame.payload.count) }
      }
      #expect(lengths == [0, 7, 14, 21, 28], "pieces of \(size)")
      var (lines, texts) = (ByteQueue(), [String]())
      let text = Array("a\n\nbcd\nrest".utf8)
      for start in stride(from: 0, to: text.count, by: size) {
        lines.append(Array(text[start..<min(start + size, text.count)]))
        while let line = try lines.nextLine() { texts.append(String(decoding: line, as: UTF8.self)) }
      }
      #expect(texts == ["a", "", "bcd"])
      #expect(lines.rest == Array("rest".utf8))
    }
    var other = ByteQueue()
    other.append(Array("HTTP/1.1 400 Bad Request".utf8))
    #expect(throws: FramingError.self) { try other.nextFrame() }
    var giant = ByteQueue()
    giant.append(Array("i3-ipc".utf8) + [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])
    #expect(throws: FramingError.self) { try giant.nextFrame() }
  }

  @Test func whatIsNoJSONIsNothing() {
    for text in ["", "{", "nonsense", "{\"a\":1e999999}", String(repeating: "[", count: 100_000)] {
      #expect(JSON(Array(text.utf8)) == nil, "\(text.prefix(9))")
    }
    let value = JSON(Array("{\"a\":\"x\u{e9}\",\"n\":-1,\"big\":9007199254740993,\"z\":\"a\\u0000b\"}".utf8))
    #expect(value?["n"]?.number == nil)
    #expect(value?["n"]?.process == nil)
    #expect(value?["big"]?.number == 9_007_199_254_740_993)
    #expect(value?["a"]?["b"] == nil)
    #expect(value?["a"]?.elements.isEmpty == true)
    #expect(value?["z"]?.text == "a\0b")
    // What is not valid UTF-8 is replaced.
    #expect(JSON(Array("\"x".utf8) + [0xff] + Array("\"".utf8))?.text == "x\u{fffd}")
  }
}
