import BridgeJSON
import Testing
import WindowBridge

/// Hyprland and niri, from streams as their documentation shows them.
@Suite struct StreamTests {
  @Test func niriTellsEverythingAndThenWhatChanges() throws {
    var state = NiriState()
    func window(_ id: Int, _ title: String, workspace: Int, focused: Bool) -> String {
      """
      {"id":\(id),"title":"\(title)","app_id":"foot","pid":\(id + 100),"workspace_id":\(workspace),\
      "is_focused":\(focused),"is_floating":false,"is_urgent":false}
      """
    }
    // (a line of the stream, who is in front, title and workspace of each window)
    let stream: [(String, UInt64?, [String])] = [
      (#"{"Ok":"Handled"}"#, nil, []),
      (
        """
        {"WorkspacesChanged":{"workspaces":[{"id":1,"idx":1,"name":null,"output":"DP-1","is_active":true,\
        "is_focused":true,"active_window_id":1},{"id":2,"idx":2,"name":"mail","output":"DP-1","is_active":false,\
        "is_focused":false,"active_window_id":null}]}}
        """, nil, []
      ),
      (
        #"{"WindowsChanged":{"windows":["# + window(1, "one", workspace: 1, focused: true) + ","
          + window(2, "two", workspace: 2, focused: false) + "]}}", 1, ["one 1", "two mail"]
      ),
      (#"{"KeyboardLayoutsChanged":{"keyboard_layouts":{"names":["us"],"current_idx":0}}}"#, 1, ["one 1", "two mail"]),
      (#"{"WindowFocusChanged":{"id":2}}"#, 2, ["one 1", "two mail"]),
      (
        #"{"WindowOpenedOrChanged":{"window":"# + window(2, "zwei", workspace: 1, focused: true) + "}}", 2,
        ["one 1", "zwei 1"]
      ),
      (
        #"{"WindowOpenedOrChanged":{"window":"# + window(3, "three", workspace: 1, focused: true) + "}}", 3,
        ["one 1", "zwei 1", "three 1"]
      ),
      (#"{"WindowFocusChanged":{"id":null}}"#, nil, ["one 1", "zwei 1", "three 1"]),
      (#"{"WindowFocusChanged":{"id":3}}"#, 3, ["one 1", "zwei 1", "three 1"]),
      (#"{"WindowClosed":{"id":3}}"#, nil, ["one 1", "zwei 1"]),
      (
        #"{"WorkspacesChanged":{"workspaces":[{"id":1,"idx":4,"name":"web"}]}}"#, nil, ["one web", "zwei web"]
      ),
      (#"{"WindowClosed":{"id":"x"}}"#, nil, ["one web", "zwei web"]), ("[1]", nil, ["one web", "zwei web"]),
      (#"{"WindowsChanged":{"windows":[]}}"#, nil, []),
    ]
    for (line, front, windows) in stream {
      state.event(try #require(JSON(Array(line.utf8))))
      #expect(state.desktop.front == front.map { WindowID($0) }, "\(line)")
      let told = state.desktop.windows.sorted { $0.key < $1.key }.map {
        "\($0.value.title) \($0.value.workspace ?? "-")"
      }
      #expect(told == windows, "\(line)")
    }
    #expect(NiriState().raiseRequest(WindowID(3)) == Array("{\"Action\":{\"FocusWindow\":{\"id\":3}}}\n".utf8))
    #expect(NiriState.refusal(Array(#"{"Ok":"Handled"}"#.utf8)) == nil)
    #expect(NiriState.refusal(Array(#"{"Err":"no such window"}"#.utf8)) == "no such window")
    #expect(NiriState.refusal([]) != nil)
  }

  @Test func hyprlandListsClientsAndTellsWhatChanges() throws {
    var state = HyprlandState()
    let clients = """
      [{"address":"0x55d0c8a1","mapped":true,"hidden":false,"workspace":{"id":1,"name":"1"},"class":"foot",
        "title":"one","pid":101},
       {"address":"0x55d0c8b2","mapped":true,"workspace":{"id":2,"name":"mail"},"class":"","title":"two","pid":-1},
       {"address":"0x55d0c8c3","mapped":false,"title":"hidden"},{"address":"nonsense"}]
      """
    state.clients(try #require(JSON(Array(clients.utf8))))
    let (one, two) = (WindowID(0x55d0_c8a1), WindowID(0x55d0_c8b2))
    #expect(state.desktop.windows.keys.sorted() == [one, two])
    #expect(state.desktop.windows[one]?.process == 101)
    #expect(state.desktop.windows[two]?.process == nil)
    #expect(state.desktop.windows[two]?.application == nil)
    state.activeWindow(try #require(JSON(Array(#"{"address":"0x55d0c8a1"}"#.utf8))))
    #expect(state.desktop.front == one)
    // (a line, whether the list is needed, who is in front)
    let stream: [(String, Bool, WindowID?)] = [
      ("activewindow>>foot,two", false, one), ("activewindowv2>>55d0c8b2", false, two),
      ("windowtitlev2>>55d0c8b2,a, b>>c", false, two), ("workspacev2>>3,3", false, two),
      ("activewindowv2>>", false, nil), ("activewindowv2>>,", false, nil), ("activewindowv2>>55d0c8d4", true, nil),
      ("openwindow>>55d0c8d4,1,foot,new", true, nil), ("activewindowv2>>55d0c8a1", false, one),
      ("closewindow>>55d0c8a1", false, nil), ("movewindowv2>>55d0c8b2,1,1", true, nil),
      ("windowtitle>>55d0c8b2", true, nil),
      ("windowtitlev2>>55d0c8b2," + String(repeating: "x", count: 1024), true, nil),
      ("no event", false, nil), (">>", false, nil), ("closewindow>>", true, nil), ("windowtitlev2>>77,x", true, nil),
    ]
    for (line, needsClients, front) in stream {
      #expect(state.event(line) == needsClients, "\(line)")
      #expect(state.desktop.front == front, "\(line)")
    }
    #expect(state.desktop.windows[two]?.title == "a, b>>c")
    // Events that arrive before the list are newer than the list.
    state.clients(
      try #require(JSON(Array(clients.utf8))),
      before: ["closewindow>>55d0c8a1", "windowtitlev2>>55d0c8b2,newer", "activewindowv2>>55d0c8b2"])
    #expect(state.desktop.windows.mapValues(\.title) == [two: "newer"] && state.desktop.front == two)
    state.activeWindow(try #require(JSON(Array("{}".utf8))))
    #expect(state.desktop.front == nil)
    #expect(HyprlandState.refusal(Array("ok".utf8)) == nil)
    #expect(HyprlandState.refusal(Array("ok\n\nok".utf8)) == nil)
    #expect(HyprlandState.refusal(Array("Window not found".utf8)) == "Window not found")
    #expect(HyprlandState.refusal([]) != nil)
  }
  /// What `j/status` says, and the requests to close a window, fill the screen with it, let it float and bring it to the front.
  @Test(arguments: [
    (
      nil,
      [
        "dispatch closewindow address:0x1a",
        "[[BATCH]]dispatch focuswindow address:0x1a;dispatch fullscreen 0",
        "dispatch togglefloating address:0x1a", "dispatch focuswindow address:0x1a",
      ]
    ),
    (
      #"{"configProvider": "lua", "backend": "drm"}"#,
      [
        #"dispatch hl.dsp.window.close({ window = "address:0x1a" })"#,
        #"[[BATCH]]dispatch hl.dsp.focus({ window = "address:0x1a" });dispatch hl.dsp.window.fullscreen()"#,
        #"dispatch hl.dsp.window.float({ window = "address:0x1a" })"#,
        #"dispatch hl.dsp.focus({ window = "address:0x1a" })"#,
      ]
    ),
  ]) func hyprlandIsAskedInTheLanguageOfItsSettings(_ status: String?, _ requests: [String]) throws {
    var state = HyprlandState()
    if let status { state.status(try #require(JSON(Array(status.utf8)))) }
    let window = WindowID(0x1a)
    let asked =
      [WindowAction.close, .fullscreen, .float].map { state.request($0, on: window) } + [state.raiseRequest(window)]
    #expect(asked.map { $0.map { String(decoding: $0, as: UTF8.self) } } == requests)
    #expect(state.request(.minimize, on: window) == nil)
    // Settings in the older language may come back.
    state.status(try #require(JSON(Array(#"{"configProvider": "hyprlang"}"#.utf8))))
    #expect(state.raiseRequest(window) == Array("dispatch focuswindow address:0x1a".utf8))
  }
}
