Kuhinjska pipa spet pušča.
Kdo je pustil odprto okno?
Prosim, tukaj si sezujte čevlje.
Kako udoben je ta kavč!
Še nikoli nisem zlikal srajce.
Amina vsak večer pred večerjo zaliva rastline na balkonu.
Za vrati kopalnice je kup čistih brisač.
Naš pralni stroj, ki smo ga kupili leta 2009, še vedno brezhibno deluje.
Ne vklapljaj pomivalnega stroja, dokler ni povsem poln.
Bi lahko ogledalo obesil malo višje od svetilke?
Budilka mi zvoni ob 6:15, vendar vstanem pozneje.
Zavese je sešila Zofia iz drugega nadstropja.
Ali naj kupimo še nekaj odej, če bi nocoj odpovedalo ogrevanje?
Zakaj rezervne ključe hraniš v cvetličnem loncu?
Diego je pometel tla, odnesel smeti in postlal postelje, preden so se njegovi starši vrnili domov.
Čeprav je bila nova preproga draga, je dnevna soba z njo pozimi videti veliko toplejša.
Ko je ob 21:40 zmanjkalo elektrike, smo prižgali sveče in si pripovedovali stare zgodbe.
Pravi, da je podstrešje polno škatel, ki jih ni nihče odprl, odkar so se preselili v Lizbono.
Stene spalnice smo prebarvali na svetlo zeleno, ker je stara siva barva vse spravljala v slabo voljo.
»Ste kje videli moja očala?« je vprašal dedek, ki jih je imel na čelu.
Najmanjša soba v našem stanovanju meri le 6 kvadratnih metrov, vendar ima najlepši razgled.
Odkar je Olena začela delati od doma, je jedilno mizo spremenila v pisalno, vsa družina pa zdaj obeduje v kuhinji.
Škarje sem pospravil v zgornji predal, da jih otroci ne bi dosegli, zdaj pa se ne morem spomniti, v kateri sobi je bilo to.
Mizar iz Salzburga, ki nam je prejšnji mesec popravil stopnice, nam je povedal, da je les starejši od same hiše in da bi ga bilo treba premazati z oljem.
Lestev si lahko sposodiš, kadar koli želiš, samo da jo vrneš v garažo in za seboj zakleneš vrata.
Ta juha potrebuje več soli.
Je kruh še topel?
Najprej olupi krompir.
Kako slastni so tvoji cmoki!
Gobove solate se ni nihče dotaknil.
Yuki ima raje zeleni čaj kot kavo, zlasti zjutraj.
Kolač pecite 45 minut in ga pustite, da se počasi ohladi.
Masla ni bilo več, zato sem uporabila oljčno olje.
Najboljše pomaranče na tržnici prihajajo iz vasi blizu Valencie.
Bi radi ribo na žaru ali ocvrto s česnom?
Ti rezanci so narejeni ročno iz moke, vode in jajc.
Če dodaš preveč kisa, bo omaka prekisla.
Moja teta Beatriz ne je mesa že od svojega 19. leta.
Koliko gramov sladkorja daš v to marmelado?
V majhni restavraciji v Hanoju smo za skledo odlične goveje juhe plačali le 4 evre.
Medtem ko se je riž kuhal, je Tariq sekljal čebulo in se trudil, da ne bi jokal.
Kuhar iz Bangkoka je razložil, da je treba sveža zelišča dodati šele čisto na koncu.
Sir, ki najmočneje diši, nima vedno tudi najmočnejšega okusa.
Čeprav je bil recept videti preprost, smo nadev pripravljali 3 ure.
Veš, ali je to jagodičevje mogoče jesti surovo ali ga je treba prej skuhati?
Da bo zelenjava ostala hrustljava, jo na kratko skuhajte v vreli vodi in nato potopite v mrzlo.
Ko je Fatima leta 1998 v Casablanci odprla pekarno, je prodajala eno samo vrsto kruha, danes pa jih ponuja več kot 30.
Gostje so že pojedli sladico, ko se je natakar vrnil in oznanil, da je glavna jed, ki so jo naročili, končno pripravljena.
Čokolada se topi enakomerneje, če jo nalomimo na majhne koščke in segrejemo nad vročo vodo, namesto da bi jo postavili neposredno na štedilnik.
Moj dedek je govoril, da dober paradižnik ne potrebuje ničesar razen malo soli, rezine kruha in nekoga, s katerim ga lahko deliš.
Moji sestri dvojčici se redko prepirata.
Je Chidi tvoj mlajši brat?
Nocoj pokliči mamo.
Tako zelo te pogrešamo!
Zaročila sta se v Pragi.
Lucia je najmlajša od 7 bratrancev in sestričen ter najvišja med njimi.
Moji starši so poročeni že 42 let.
Kdo bo pazil na dojenčka, ko te ne bo?
Pavel je bratu odpustil, čeprav se že leta nista pogovarjala.
Vzgojila me je babica v vasi blizu Tbilisija.
Ne laži svojim otrokom, niti o malenkostih.
Očim ga je naučil plavati in voziti kolo.
Če bi imel hčer, bi jo poimenoval po svoji prateti?
Na poroki je bilo 85 gostov in skoraj vsi so plesali.
Ingrid in Kwame sta se spoznala na vlaku leta 2016 in sta od takrat nerazdružljiva.
»V tej hiši boš vedno imel svojo sobo,« je rekel oče, ko sem odhajal.
Ali tvoj stric za novo leto še vedno pošilja na roko napisana pisma vsem svojim nečakom in nečakinjam?
Moja sestrična, ki živi v Buenos Airesu, se z našo babico vsako nedeljo pogovarja prek videoklica.
Priznala je, da je sestri že od otroštva zavidala uspeh.
Po ločitvi sta ostala prijatelja, ker sta želela, da bi bil njun sin srečen.
Starejši ko je Mehmet, bolj je podoben svojemu pokojnemu dedku, tako po videzu kot po značaju.
Naši sosedje so posvojili dečka, starega 5 let, ki sprva skoraj ni govoril, zdaj pa njihov dom polni z vprašanji in smehom.
Ko je Priyin mož izgubil službo, so njeni starši vso družino povabili, naj živi pri njih, dokler si on ne najde nove.
Šele na pogrebu smo izvedeli, da je bila naša prababica pilotka in da je nekoč sama preletela Ande.
Najboljšo prijateljico sem vprašala, zakaj mi ni nikoli povedala za svojo bolezen, in odgovorila je, da ni želela mojega pomilovanja.
Jutri zjutraj bo snežilo.
Kako veličasten sončni zahod!
Je jezero že zamrznjeno?
Megla se je končno dvignila.
Ne trgajte teh redkih cvetlic.
Amazonka ima več vode kot katera koli druga reka.
Minulo noč se je temperatura spustila na 14 stopinj pod ničlo.
Ker več mesecev ni deževalo, je vodnjak presahnil.
Na drugi strani te gore so vroči vrelci.
Streho Faridinega skednja je odtrgal veter.
Če se oblaki razkadijo, bomo nocoj morda videli severni sij.
Katera puščava na svetu je najbolj suha?
Je listje v parkih v Vilni že porumenelo?
Poslušaj, kako tiho teče potok med kamni!
Gora Kilimandžaro, katere vrh je pokrit s snegom, se dviga nad vročimi ravninami Tanzanije.
Po napovedi je danes popoldne ob obali 80 % možnosti za nevihte.
Takoj ko je neurje minilo, so se vaščani odpravili odstranit odlomljene veje s ceste.
Zakaj je morje tukaj videti zeleno, medtem ko je blizu otoka temno modro?
Ognjenik na otoku je izbruhnil leta 1973 in pod debelo plastjo pepela pokopal skoraj 400 hiš.
Čeprav se je pomlad začela že pred 2 tednoma, so polja okoli Minska še vedno bela in zamrznjena.
Znanstveniki poročajo, da se ledenik tali hitreje, kot so napovedovali še pred nekaj leti.
Pred zoro smo se povzpeli na vrh hriba, da bi opazovali sončni vzhod nad dolino, a je meglica vse zakrila.
Za hrast pred cerkvijo pravijo, da je star 600 let, njegovo deblo pa je tako debelo, da ga 5 ljudi komaj objame.
Med monsunom Ganges tako naraste, da morajo ljudje, ki živijo na njegovih bregovih, včasih za več tednov zapustiti svoje domove.
Kje bodo na svoji dolgi poti počivale ptice, ki prezimujejo v delti, če nihče ne bo varoval mokrišč okoli nje?
Marekov pes se boji grmenja.
Ali netopirji res spijo z glavo navzdol?
Ne hranite opic!
Sloni imajo izjemno dober spomin.
Naša kokoš nese rjava jajca.
Sinji kit lahko tehta več kot 150 ton.
Pod streho postaje je lastovičje gnezdo.
Kače ne slišijo tako kot ljudje, zaznavajo pa tresljaje.
Nihče ne ve, kako je lisica prišla v muzej v Krakovu.
Izgubljenega psička je 2 dni pozneje našel poštar.
Katera žival teče hitreje, konj ali noj?
Camila ima papigo, ki posnema zvonjenje telefona.
Bodo srne zbežale, če se jim počasi približamo?
Čebele so iz te doline izginile, še preden so kmetje posejali deteljo.
Najstarejša želva v živalskem vrtu se je izlegla leta 1889 in še vedno obožuje svežo solato.
Volkove so vrnili v park, da bi se število jelenov zmanjšalo po naravni poti.
Čeprav pingvini ne znajo leteti, plavajo bolje kot večina drugih ptic na svetu.
Veterinar je Nikolaju povedal, da bo njegov konj okreval, če bo počival 6 tednov.
Si vedel, da ima hobotnica 3 srca in da je njena kri modra?
Medtem ko je mačka spala na okenski polici, je vrabec ukradel drobtine iz njene skledice.
Kenguruji, ki živijo samo v Avstraliji in na Novi Gvineji, nosijo mladiče v vreči.
Vsako pomlad prostovoljci iz vasi v vedrih prenesejo čez cesto okoli 900 žab, ker jih preveč konča pod kolesi avtomobilov.
Pastir je zažvižgal in pes, ki je ležal v travi, je stekel okoli črede in jo pognal proti vratom ograde.
»Ta levinja že leta živi brez samca,« je povedal čuvaj v Keniji, »vendar je vzgojila mladiče, ki so jih drugi levi zapustili.«
Ko je reka poplavila pašnike, so kmetje krave do pozne noči s čolnom prevažali na višje ležeča tla, žival za živaljo.
Vlak odpelje ob 18:30.
S katerega perona odpelje ekspresni vlak?
Prosimo, pripnite si varnostne pasove.
Zamudili smo zadnji trajekt za Zanzibar.
Moj kovček tehta 23 kilogramov.
Let iz Nairobija v Mumbaj je imel zaradi goste megle zamudo.
Je ceneje prečkati mejo z avtobusom ali z vlakom?
Za mostom zavijte levo in nadaljujte še 2 kilometra.
Hassan večino svojega življenja vozi taksi v Aleksandriji.
Prostih sedežev ni bilo, zato smo vso pot stali.
Najdaljši predor na tej železniški progi je dolg 57 kilometrov.
Če bi odšli prej, zdaj ne bi tičali v prometnem zastoju.
Preden smo prišli do pristanišča, so nam dvakrat pregledali potne liste.
Čigavo kolo je priklenjeno na ograjo veleposlaništva?
Hotel, v katerem smo bivali v Reykjaviku, je imel bazen, ogrevan z vročimi vrelci.
Preden najamete avto, se prepričajte, da zavarovanje krije poškodbe pnevmatik.
Anneke je v 7 dneh z vlakom pripotovala iz Moskve v Vladivostok in med potjo prebrala 5 romanov.
Čeprav je bila cesta poledenela, voznik ni hotel upočasniti, dokler potniki niso protestirali.
Sprevodnik je sporočil, da bo vlak zaradi okvare signala stal 20 minut.
Kako dolgo traja hoja od katedrale do starega pristanišča s težko prtljago?
Gorske poti nismo izbrali zato, ker bi bila krajša, temveč zato, ker so bili razgledi lepši.
Ko je Joaquin ob 4:50 prispel v Istanbul, so bile vse menjalnice zaprte, zato je šel po praznih ulicah peš do svojega hotela.
Kapitan je potnikom zagotovil, da ni nobene nevarnosti, vendar je posadki ukazal, naj pripravi rešilne čolne, če bi se neurje poslabšalo.
Če vaša prtljaga ne prispe v 24 urah, izpolnite ta obrazec in letalska družba vam jo bo brezplačno dostavila na vaš naslov.
Stari parnik, ki je nekoč prevažal pošto po Donavi, so preuredili v plavajoči muzej, ki je za obiskovalce odprt vse poletje.
Knjižnica se zapre ob 20:00.
Kako hrupna je ta ulica!
So vodnjaki ponoči osvetljeni?
Ob sobotah je tukaj prepovedano parkirati.
Zdi se, da Seul nikoli ne spi.
Kjer je nekoč stala tovarna, bodo odprli nov park.
Leta 1960 v tej četrti ni bilo nič drugega kot polja in sadovnjaki.
Najemnine v naši četrti so se od lani zvišale za 12 %.
Zakaj so danes vse trgovine na glavnem trgu zaprte?
Zanele blizu pristanišča v Cape Townu turistom prodaja slike.
Ulični glasbeniki igrajo pred opero, dokler se ne stemni.
Najvišja stavba v mestu ima 68 nadstropij in nobenega balkona.
Dobiva se pri kipu nasproti mestne hiše.
Bi se preselil v predmestje, če bi avtobusi vozili pogosteje?
Kino, ki ga je imela Leila kot otrok tako rada, je nadomestilo parkirišče.
Čeprav je Tokio ogromen, so mnoge njegove stranske ulice tako mirne kot vaške.
Kolesarji v Københavnu se pritožujejo, da so na novih stezah ob kanalu nenehno parkirani avtomobili.
Mi lahko poveste, kateri most vodi do bolšjega sejma na drugem bregu?
Vsako soboto kmetje iz okoliških vasi na trgu prodajajo med, sir in cvetje.
Potem ko so smetarji stavkali 9 dni, je župan privolil, da se sestane z njimi.
Za mošejo je drobna knjigarna, v kateri lahko zastonj piješ čaj in bereš.
Ko so lansko jesen zamenjali ulične svetilke na Vrtni ulici, so stanovalci povedali, da lahko prvič po več letih spet vidijo zvezde.
Mestno gledališče, ki ga je leta 1987 poškodoval požar, so obnovili natanko takšno, kot je bilo, le da so sedeži udobnejši.
Mateo se je iz mirnega mesteca v gorah preselil v Ciudad de México, ker je želel študirati glasbo in živeti obkrožen z ljudmi.
Mesto namerava do leta 2030 posaditi 5000 dreves, da bo sredi poletja nekaj sence tudi na najbolj vročih ulicah.
Pošlji Rosi pogodbo do poldneva.
Kdo je naročil 600 kuvert?
V tiskalniku je zmanjkalo papirja.
Nisem dobil napredovanja.
Čestitke za novo službo!
Naš sestanek je prestavljen s torka na četrtek ob 10:30.
Sofia v Rotterdamu vodi skupino 14 inženirjev.
V vsakem nadstropju razen v našem je kavni avtomat.
Si že shranil kopijo letnega poročila?
Račune je podpisala direktorica osebno.
Če pokliče naročnik, mu povej, da sem v banki.
Moja miza je bolj pospravljena kot tvoja, so pa tvoje zamisli boljše.
Goran je dal odpoved, ker njegov šef ni nikoli nikogar poslušal.
Ali smo za delo ob praznikih dodatno plačani?
Rashid dela za isto ladjarsko družbo v Dubaju, vse odkar je končal univerzo.
Računovodja je po naključju odkril, da je bilo 3400 evrov nakazanih napačnemu dobavitelju.
»Nihče ne gre nikamor, dokler ta težava ne bo rešena,« je rekel vodja in zaprl vrata sejne sobe.
Medtem ko so popravljali dvigalo, so se morali zaposleni vsako jutro povzpeti 11 nadstropij.
Čeprav je najmlajša na oddelku, jo vsi prosijo za nasvet.
Siemens je sporočil, da bo prihodnje leto v svoji tovarni usposobil 250 mladih.
Bi vas motilo, če bi si do konca prenove delili pisarno s pripravniki?
Sodelavka, ki je sedela poleg mene, je zapustila podjetje, da bi odprla majhen hotel ob morju, in zavidam ji.
Pred združitvijo so lahko zaposleni 2 dni na teden delali od doma, novo vodstvo pa želi, da so vsi vsak dan v pisarni.
Na razgovoru v Torontu so Mei vprašali, zakaj je tako pogosto menjavala službe, in odgovorila je, da se hitro začne dolgočasiti.
Morali bi zaposliti več ljudi ali pa strankam obljubljati manj, saj zaradi sedanje obremenitve zbolevajo celo najpotrpežljivejši med nami.
Odprite zvezke, prosim.
Izpit traja 90 minut.
Zakaj je Arjun zamudil pouk?
Geometrija se mi je zdela nemogoča.
Brati se je naučila sama.
V razredu je 27 učencev, stolov pa samo 20.
Hiroshi se je naučil igrati violino, ko je bil star 6 let.
Ali zna kdo pojasniti, zakaj led plava na vodi?
Šolo so poimenovali po pesniku, ki se je rodil v bližini.
Ne prepisujte odgovorov, temveč poskusite razumeti vprašanje.
Bi junija opravil izpit, če bi se bolj učil?
Najtežja vaja v knjigi je na strani 118.
Naša učiteljica kemije govori tako tiho, da je nihče ne sliši.
Moj nečak želi študirati medicino na Univerzi v Bologni.
Ker je bil edini učitelj v vasi bolan, so starejši učenci poučevali mlajše.
Ayodele je dobila štipendijo, ki ji bo omogočila, da 2 semestra preživi v Montrealu.
Profesor je poskus ponovil, da bi ga lahko videli tudi študenti v zadnjih vrstah.
Je res, da si otroci pesmi zapomnijo lažje kot pravila in sezname letnic?
Ramon je po zaslugi večernih tečajev pri 53 letih končno dobil šolsko spričevalo.
Ravnateljica je povedala, da bodo od septembra mobilni telefoni med poukom prepovedani.
Čeprav se svahilija učim že od leta 2021, še vedno delam napake, kadar govorim hitro.
Ko se je knjižničarka upokojila, so ji učenci podarili album, v katerega je vsak od njih napisal naslov svoje najljubše knjige.
Po podatkih Unesca milijoni otrok po svetu še vedno ne hodijo v šolo, dekleta pa to prizadene pogosteje kot fante.
»Kaj bi se zgodilo, če bi Luna nenadoma izginila?« je vprašala deklica po imenu Aylin v prvi vrsti in ves razred se je začel prepirati.
Študenti, ki so izdelali sončni avtomobil, so za projekt porabili 14 mesecev, in čeprav niso zmagali, so se naučili več kot na katerem koli predavanju.
Te koleno še boli?
Danes pij veliko vode.
Alergična sem na penicilin.
Rana se je zacelila brez brazgotine.
Vročina mu je narasla na 40 stopinj.
Vzemite eno tableto vsakih 8 ur, najbolje po jedi.
Doktor Achebe že od leta 1995 zdravi bolnike z malarijo.
Ali na otoku pozimi ni reševalnega vozila?
Nadia enkrat na leto daruje kri pri Rdečem križu.
Kadilci po operacijah okrevajo počasneje kot drugi ljudje.
Če se bo izpuščaj razširil, se takoj vrnite v ambulanto.
Kako ti je uspelo, da si si med spanjem zlomil roko?
Pregledali so mi zobe in zamenjali dve stari zalivki.
Vsak dan hodi 30 minut, ker jo od sedenja boli hrbet.
Medicinska sestra, ki mi je izmerila krvni tlak, mi je rekla, naj globoko diham in neham govoriti.
Svetovna zdravstvena organizacija priporoča, naj odrasli jedo manj soli in se vsak teden več gibajo.
Čeprav je operacija trajala 9 ur, je bolnik še isti večer lahko govoril.
Se moram cepiti proti rumeni mrzlici, če bom v Gani preživel samo 3 dni?
Dober spanec pomaga telesu v boju proti okužbam bolje kot večina vitaminov, ki jih lahko kupite.
Ko je Bogdan v vrsti omedlel, mu je neznanec dvignil noge in poklical na pomoč.
Farmacevtka nas je opozorila, da se ta sirup ne sme dajati otrokom, mlajšim od 4 let.
Thuy si zdravljenja v prestolnici ni mogla privoščiti, zato so sosedje zbirali denar, dokler ga ni bilo dovolj za pot in bolnišnico.
Raziskovalci v Melbournu so novo zdravilo preizkusili na 320 prostovoljcih in ugotovili, da je pri več kot 60 % od njih ublažilo migreno.
Če želite nehati kaditi, povejte to prijateljem, zavrzite pepelnike in najdite kaj drugega, s čimer boste zaposlili roke.
Moja babica verjame, da med in ingver pozdravita vsak kašelj, moja sestra, ki je zdravnica, pa zaupa samo tistemu, kar je dokazano.
Sodnik je preložil sojenje.
Je ta sporazum pravno zavezujoč?
Priče morajo govoriti resnico.
Globa znaša 150 evrov.
Podpišite oba izvoda obrazca.
Ustava je bila sprejeta leta 1991 in od takrat dvakrat spremenjena.
Parlament ima 120 poslancev, ki jih volijo vsaka 4 leta.
Odvetnik je poroto prosil, naj ne verjame drugi priči.
Brez dovoljenja na tem zemljišču ne smete graditi ničesar.
Kdo ima pravico do pritožbe zoper to odločbo?
Davki na Norveškem so višji kot v večini drugih držav.
Noben zakon ne prepoveduje gojenja paradižnika na balkonu.
Če najemnik ne plačuje, lahko lastnik odpove najemno pogodbo.
Carmen je postala prva ženska na čelu sodišča v Sevilli.
Pred letom 2005 so morali državljani po nov potni list potovati v prestolnico.
Tatu, ki je ukradel sliko, so na Dunaju obsodili na 3 leta zapora.
Minister je izjavil, da vlada letos ne bo zvišala upokojitvene starosti.
Čeprav osumljenec ni imel odvetnika, ga je policija še naprej zasliševala vse do polnoči.
Ali potrebujem pričo, ko na občini prijavim rojstvo otroka?
Samira študira pravo, da bi lahko zagovarjala ljudi, ki si ne morejo privoščiti odvetnika.
Evropska unija od proizvajalcev zahteva, da na etiketi navedejo, od kod prihaja med.
Sodišče je odločilo, da mora podjetje plačati odškodnino vsem kmetom, katerih polja je onesnažila odpadna voda iz njegove tovarne.
Če župan odstopi pred koncem leta, bo funkcijo prevzel podžupan ali pa je treba takoj izvesti nove volitve?
V skladu s 17. členom se smejo osebni podatki hraniti le, dokler so potrebni, na zahtevo lastnika pa jih je treba izbrisati.
»Ničesar nisem podpisala in ničesar nisem obljubila,« je Ivanka rekla policistu, ki je kljub temu zapisal njeno ime in jo prosil, naj počaka zunaj.
Pogajanja so se končala brez dogovora.
Bo predsednik vlade odstopil?
Volilna udeležba je padla na 48 %.
Glasujte za čistejše reke!
Dve stranki sta sestavili koalicijo.
Predsednik Alvarez bo konec marca obiskal Džakarto.
Stavka v hamburškem pristanišču je vstopila v drugi teden.
Zakaj je o škandalu poročalo tako malo časopisov?
Mirnega pohoda se je udeležilo več kot 7000 ljudi.
Novi davek so kritizirali opozicija in sindikati.
V prvem televizijskem soočenju ni bilo presenečenj.
Kaj se bo spremenilo za majhne trgovine, če bo predlog zakona sprejet?
Senatorka Tanaka je zanikala, da bi se kdaj srečala z bankirjem.
To so bile najbolj izenačene volitve v regiji po letu 1978.
Združeni narodi so poslali 2 opazovalca, da bi spremljala prekinitev ognja ob meji.
Novinarka, ki je razkrila afero, je prejela nagrado, vendar je tudi izgubila službo.
Medtem ko so ministri zasedali v Ženevi, so se pred hotelom mirno zbrali protestniki.
Po javnomnenjski raziskavi, objavljeni v ponedeljek, gradnjo jezu podpira 54 % volivcev.
Kdo bo po vašem mnenju zmagal na predsedniških volitvah, če favorita odstopita od kandidature?
Govorec ni hotel povedati, ali se bodo pogovori z uporniki po praznikih nadaljevali.
Kljub hudim porazom v mestih je vladajoča stranka zmagala v skoraj vseh podeželskih okrajih.
Lokalni radio je poročal, da bo most čez Mekong zaradi popravil zaprt, čeprav je ministrstvo obljubilo, da bo ostal odprt.
Guverner, ki je obljubil gradnjo 40 novih šol, je včeraj priznal, da jih bo do konca njegovega mandata dokončanih samo 15.
»Na oblast nismo prišli zato, da bi ugajali vsem,« je novinarjem povedal predsednik vlade Haddad, »temveč zato, da bi reformirali zdravstveni sistem.«
Po potresu so sosednje države ponudile pomoč tako hitro, da so prve reševalne ekipe pristale, še preden so letališče uradno znova odprli.
Kometi so večinoma iz ledu in prahu.
Zakaj je Luna nocoj videti večja?
Nikoli ne glejte naravnost v Sonce.
Kako svetel meteor je bil to!
Zaradi helija se majhni baloni hitro dvigajo.
Saturnovi obroči so glede na svojo širino presenetljivo tanki.
Leila je leta 2019 vsako jutro merila kislost jezerske vode.
Kako dolgo bi sporočilo z Marsa potovalo do nas?
Kristali se popolnoma raztopijo, ko tekočino segrejemo na 80 stopinj Celzija.
Če bi bila težnost šibkejša, bi drevesa verjetno lahko zrasla veliko višje.
Na Luni dandanes ne bruha noben ognjenik.
Marie Curie je prejela Nobelovo nagrado tako za fiziko kot za kemijo.
Čeprav je bil vzorec majcen, je vseboval sledi zlata.
So cepivo pred odobritvijo preizkusili na prostovoljcih v Nairobiju?
Astronavti, ki so se prejšnji teden vrnili na Zemljo, so po 6 mesecih breztežnosti komaj hodili.
Profesor Okafor je razložil, da bakterije preživijo, ker lahko živijo povsem brez kisika.
Ko je bil teleskop v puščavi Atacama popravljen, so astronomi odkrili majhen planet, ki kroži okoli rdeče zvezde.
Ali verjamete, da bi lahko pod zamrznjenim površjem Jupitrove lune Evrope obstajale preproste oblike življenja?
Da bi leče zaščitili pred prahom, jih inženirji dvakrat na teden ročno očistijo.
Ne temperatura ne tlak se nista spremenila, zato je morala reakcijo povzročiti svetloba.
Poskus je 12-krat spodletel, preden je Mei končno opazila, da je termometer pokvarjen.
Ko se je ob 14:20 začel mrk, so ptice utihnile, zrak se je ohladil, otroci na strehi pa so začeli kričati in kazati v nebo.
Raziskovalci v Ženevi pravijo, da teorije niso dokazali, da pa je zaradi njihovih novih meritev vsaka druga razlaga manj verjetna.
Ker satelit, izstreljen leta 1998, skoraj nima več goriva, ga bodo prihodnjo pomlad usmerili v ocean, daleč od vseh ladij.
Bi nam lahko povedali, ali je voda, ki so jo našli v tistem prastarem meteoritu, res starejša od Sonca, kot trdijo nekateri znanstveniki na Japonskem?
Pred ponovnim zagonom shranite svoje delo.
Se je v tiskalniku spet zagozdil papir?
Moj prenosnik se poleti pregreva.
Strežnik v Dublinu ne deluje!
Starega gesla se nihče ne spomni.
Novi telefon je lažji, a bolj krhek od prejšnjega modela.
Kwame je svoj prvi računalniški program napisal, ko je bil star 9 let.
Za prenos celotnega poročila kliknite zeleni gumb.
Je komu uspelo ponoviti napako na drugem računalniku?
Aplikacija z zemljevidi je po včerajšnji posodobitvi nehala delovati.
Brez močnega signala se dron samodejno vrne v bazo.
Robot lahko z eno samo roko dvigne 50 kilogramov.
Če baterija pade pod 10 %, zaslon potemni.
Wikipedijo urejajo prostovoljci iz skoraj vseh držav.
»Datoteko sem po pomoti že izbrisala,« je Anjali priznala šefu, »vendar obstaja kopija.«
Podjetje je obljubilo, da osebnih podatkov ne bo nikoli prodajalo, vendar sta dva novinarja dokazala nasprotno.
Zakaj bi plačevali za program, ki zmore manj kot brezplačni?
Naša majhna ekipa v Talinu je izdelala orodje, ki med vožnjo prevaja prometne znake.
Preden priključite kabel, se prepričajte, da je naprava izklopljena in popolnoma suha.
Prvo spletno stran, ki jo je Rodrigo oblikoval leta 2003, še vedno vsak dan obišče 200 ljudi.
Čeprav ni imela tehnične izobrazbe, se je moja teta z gledanjem videoposnetkov naučila popravljati tablice.
Inženirje so prosili, naj pospešijo iskanje, zato so na novo napisali ves modul, ga 3 tedne preizkušali in na svoje presenečenje odkrili, da je počasnejši.
Če bi bolnišnica v Lagosu pravočasno namestila varnostno posodobitev, zdravniki ne bi za 5 dni izgubili dostopa do svojih kartotek.
Mi lahko kdo pojasni, kako lahko kamera, manjša od kovanca, v temi prepozna obraze z razdalje 100 metrov?
Občinstvu je povedala, da umetna inteligenca ne bo nadomestila učiteljev, da pa bo tistim učiteljem, ki jo bodo prezrli, delo morda težje.
Grobnica je bila že izropana.
Kdo je v resnici zgradil ta most?
Pompeji so bili zasuti leta 79.
Ne dotikaj se mozaika!
Imperiji se počasi vzpenjajo in hitro propadejo.
Kartagino so po dolgem obleganju uničili Rimljani.
Najstarejša posoda v muzeju je stara približno 9000 let.
Kjer so zdaj tista polja, je bilo nekoč živahno pristanišče.
Kdaj so ljudje prvič začeli živeti v stalnih hišah?
Farida je med kopanjem vodnjaka našla bronast kovanec.
Kralj se ni nikoli naučil brati, njegove hčere pa so govorile več jezikov.
Pismo je bilo 150 let skrito za opeko.
Brazilija je leta 1822 razglasila neodvisnost od Portugalske.
Mestno obzidje je bilo debelejše, kot je kdor koli pričakoval.
Po besedah vodnika je sultan ta vrt zasadil, da bi lahko njegova mati počivala v senci.
Arheologi, ki delajo blizu Cuzca, so odkrili kamnito cesto, ki je bila od velike poplave zakopana pod blatom.
Je prebivalce doline pregnala vojna ali so odšli zaradi suše?
Čeprav je grad leta 1648 pogorel, se je njegova klet ohranila skoraj nedotaknjena.
Večina zgodovinarjev ne verjame več, da so egipčanske piramide zgradili sužnji.
Pogodba, ki so jo podpisali na ladji, je končala spor, ki je trajal 27 let.
Prababica nam je pripovedovala, kako so vojaki svoj kruh delili z vaščani.
Po potresu leta 1755 so Lizbono obnovili s širokimi ulicami in trdnimi hišami, ker so njeni vladarji želeli, da bi bilo novo mesto varnejše.
O ženski, ki je pokopana tukaj, vemo le malo, razen da je bila visoka, da je nosila jantarne jagode in da je umrla, preden je dopolnila 30 let.
Če aleksandrijska knjižnica ne bi bila izgubljena, bi danes vedeli veliko več o medicini in astronomiji antičnega sveta?
Trgovci iz Timbuktuja so s soljo in zlatom tako obogateli, da so popotniki zgodbe o njihovem mestu ponesli čez vso puščavo in daleč čez morje.
Zemljevid prepognite vzdolž te črte.
Katera reka teče skozi Bagdad?
Bolivija nima obale.
Otok ima obliko polmeseca.
Kako ravna je ta dežela!
Donava teče skozi več glavnih mest kot katera koli druga reka.
Vas leži na nadmorski višini 2400 metrov.
Na starih zemljevidih sever ni vedno zgoraj.
Med gorami in oceanom je ozek pas puščave.
Koliko časovnih pasov ima trenutno Rusija?
Bajkalsko jezero je tako globoko, da sončna svetloba nikoli ne doseže dna.
Ingrid je po spominu narisala zemljevid fjorda.
Meja 35 kilometrov poteka vzdolž potoka, nato pa zavije proti jugu.
Pozimi do doline ni mogoče priti z avtom.
Prestolnico Kazahstana so leta 1997 iz Almatija preselili v mesto na severu.
Če ob jasnem dnevu stojiš na tem hribu, lahko čez ožino vidiš Afriko.
Zakaj toliko največjih mest na svetu stoji ob rečnih ustjih?
Ledenik, ki napaja reko, se je od očetovega otroštva skrajšal za 300 metrov.
Čeprav sta mesti sosednji, gre cesta med njima okoli cele gore.
Geodet je trdil, da je vrh 15 metrov nižji, kot kažejo uradni zemljevidi.
Pri svetilniku zavijte levo, 4 kilometre sledite obali in našli boste kamp.
Ker leži delta Mekonga tako nizko, bi že majhen dvig morske gladine poplavil polja mnogih kmečkih družin.
Mornarji so mislili, da so dosegli novo celino, toda po dveh dneh hoje so prišli do morja na drugi strani.
Je res, da so lahko ljudje v Quitu zjutraj na snegu, še isti dan pred večerjo pa v deževnem gozdu?
Kartiranje jam je trajalo dlje od načrtovanega, saj je vsak rov, ki ga je ekipa raziskala, vodil v več drugih, v katere pred tem ni stopil še nihče in ki niso imeli imen.
Kruh se draži.
Mi lahko posodiš 20 evrov?
Račun hranite eno leto.
Dolgovi so jim bili končno odpisani.
Inflacija je maja padla na 4 %.
Banka Mateuszu ni hotela dati posojila za pekarno.
Kava je že dolgo eden najpomembnejših izvoznih izdelkov Etiopije.
Kdo bo plačal škodo, če gre podjetje v stečaj?
Trgovina za nakupe pod 5 evrov sprejema samo gotovino.
Polovica družinskih dohodkov gre za najemnino.
Cene so rasle hitreje od plač, zato so ljudje kupovali manj mesa.
Ne podpiši ničesar, dokler tega ne prebere odvetnik.
Letos je bilo turistov manj, vendar so porabili več.
Svetovna banka pričakuje, da bo gospodarstvo v regiji raslo počasi.
Po zaprtju tovarne se je večina mladih delavcev preselila v Rotterdam ali našla delo na morju.
Minister je napovedal, da bo davek na električne avtomobile leta 2027 odpravljen.
Kontejnerska ladja, ki je obtičala v Sueškem prekopu, je povzročila zamude pri dobavah po vsej Evropi.
Bi raje imel nižjo plačo blizu doma ali višjo daleč stran?
Nomvula prodaja ročno izdelane košare kupcem v 14 državah, ne da bi kdaj zapustila svojo vas.
Da bi prihranil denar, se je občinski svet odločil, da bo ulične luči ugašal ob polnoči.
Ne kupec ne prodajalec nista opazila, da v pogodbi manjka stran.
Če bi vsako gospodinjstvo na mesec dalo na stran samo 15 evrov, je trdil župan, bi lahko mesto v 8 letih kupilo lastno elektrarno.
Na tržnici v Marakešu je ob sobotah takšna gneča, da morajo prodajalci začimb, ki pridejo pred sončnim vzhodom, ves dan braniti svoja mesta.
Zakaj kmetje dobijo le 10 % cene, ki jo v supermarketu plačamo za tablico čokolade?
Medtem ko je starejši družabnik želel podjetje takoj prodati, je mlajši vztrajal, naj počakata, da se menjalni tečaj izboljša.
Podaj žogo Yuki!
Kdo je zmagal na šahovskem turnirju?
Bolje plava, kot teče.
Tekma se je končala brez zadetka.
Naš vratar si je zlomil zapestje.
Finale bodo odigrali v Montevideu ob 18:30.
Usain Bolt je 100 metrov pretekel v manj kot 10 sekundah.
Še enkrat vrzi kocko in se s figurico premakni nazaj.
Si kdaj poskusil brez rokavic preplezati zaledenel slap?
Sodnik je tekmo prekinil zaradi goste megle.
Noben igralec v našem moštvu ni starejši od 23 let.
Khadija trenira vsako jutro, preden gre na univerzo.
Kolesarje so množice spodbujale vzdolž celotne proge.
Zmagati je čudovito, a še pomembneje je igrati pošteno.
Če ne bi deževalo, bi kenijski tekač v Bostonu zagotovo podrl rekord.
Trener je dekletom povedal, da so odigrala najboljšo tekmo sezone.
Moj dedek, ki ima 81 let in je skoraj gluh, v dominah še vedno premaga vse v vasi.
Bi morale biti videoigre nekega dne poleg plavanja in gimnastike vključene v olimpijske igre?
Čeprav je bil Esteban najmanjši boksar v skupini, se nihče ni hotel boriti proti njemu.
Stadion, ki sprejme 60000 gledalcev, je bil na večer polfinala skoraj prazen.
Takoj ko se je oglasila piščalka, so navijači obeh moštev stekli na travo in se objeli.
Pravila igre so preprosta: vsak igralec dobi 7 kart, in kdor se prvi znebi vseh, postane novi delivec in izbere nagrado.
Po dveh izgubljenih nizih je Svetlana zamenjala lopar, popila nekaj vode in začela igrati, kot da nima več česa izgubiti.
Se spomniš leta, ko je bil led na jezeru tako debel, da smo lahko tam igrali hokej do konca marca?
Poklicno smučanje je opustila pri 26 letih, ne zato, ker bi bila poškodovana, temveč zato, ker je želela zime preživljati s svojimi otroki.
Utišaj glasbo, prosim.
Čigava je ta violina?
Slika je bila obešena na glavo.
Kako dolgočasen film!
Carmen poje samo pod prho.
Orkestru iz Caracasa so ploskali skoraj 15 minut.
Frida Kahlo je mnogo avtoportretov naslikala leže v postelji.
Je razstava ob sredah za študente brezplačna?
Režiser je izrezal najdaljši prizor, ker je občinstvo spravljal v smeh.
V čakalnici na postaji je klavir.
Bobnar je veliko starejši od preostalih članov skupine.
Ta kip je izklesan iz enega samega kosa marmorja.
Vstopnice za opero v Milanu stanejo najmanj 90 evrov.
Tisto skulpturo bi kupil, če bi imel večji vrt.
Film, posnet v črno-beli tehniki, pripoveduje zgodbo o ribiču v Senegalu.
»Zaigrajta to še enkrat, a tokrat počasneje,« je dirigent rekel obema flavtistoma.
Medtem ko so turisti fotografirali slavni portret, ni nihče pogledal čudovitega stropa nad njimi.
Zakaj je slikar drugi obraz prekril s plastjo temno zelene barve?
Goran že od leta 1974 zbira stare gramofonske plošče in noče prodati nobene.
Igralka je povedala, da si ni nikoli ogledala nobenega od filmov, v katerih je nastopila.
Celo ljudje, ki ne marajo sodobne umetnosti, se pred njenimi steklenimi drevesi običajno za trenutek ustavijo.
Ko je kinu v našem mestu grozilo zaprtje, je 400 sosedov zbralo dovolj denarja za popravilo strehe in nakup novega projektorja za veliko dvorano.
Pesem je v Indoneziji postala tako priljubljena, da so taksiste, šolarje in celo predsednika posneli, kako na ulici plešejo nanjo.
Bi muzej opazil, da je vaza ponaredek, če tat tega ne bi 11 let pozneje priznal policiji na Dunaju?
Moja sestra tako dobro pleše flamenko, da neznanci v Sevilli mislijo, da se je tam rodila, čeprav je prvo uro obiskala šele pred dvema zimama.
Preberi mi še eno poglavje.
Zadnja stran manjka.
Katera pravljica te je najbolj prestrašila?
Pesniki redko obogatijo.
Zmaj sploh ni bil hudoben!
Gabriel García Márquez je delal kot novinar, preden je začel pisati romane.
Ob delavnikih vaška knjižnica zapre vrata ob 19:45.
Njen dnevnik so objavili 40 let po njeni smrti.
So pesem prevedli iz perzijščine ali iz arabščine?
Nekoč je pod mlinom živela prebrisana lisica.
Tariq ima raje detektivke kot knjige o resničnih zločinih.
Ne povej mi, kako se roman konča.
V tej zgodbi ni zlobnežev, so le prestrašeni ljudje.
Junak je manj zanimiv kot služabnik, ki ga izda.
Avtorica je prvi stavek več kot 60-krat napisala na novo, preden je bila z njim zadovoljna.
V legendi se kraljična spremeni v laboda, kadar koli kdo izgovori njeno pravo ime.
Kaj bi storil, če bi v stari knjigi našel opisano svoje življenje?
Knjigarnar v Edinburgu je zašepetal, da je rokopis nekoč pripadal slavnemu piratu.
Ker nam pripovedovalec laže že od začetka, njegovemu opisu umora ne moremo zaupati.
Babica je zgodbo o trmastem oslu povedala vsakič, ko je snežilo, in nikoli ni bila enaka.
Čeprav je Chinua Achebe umrl leta 2013, njegove romane še vedno berejo v šolah po vsej Nigeriji.
Deček je odprl vrata, čeprav so ga opozorili, naj tega ne stori, in zagledal stopnišče iz modrega stekla, ki je vodilo navzdol v morje.
Je zgodba, ki jo ob ognju povemo na glas, vredna manj kot tista, ki je natisnjena na papir in stoletja stoji na polici?
Amina bere tako hitro, da je na vlaku iz Istanbula v Ankaro prebrala roman s 600 stranmi in nato sprevodnika prosila za drugega.
Ko ga je vid izdal, je stari romanopisec svojo zadnjo knjigo narekoval nečakinji, ki jo je vsak večer tipkala od 20:00 do polnoči.
Še nikoli se nisem počutila tako mirno.
Ne jezi se na Oleno.
Si ljubosumen na svojega brata?
Kako ponosni smo bili tisti večer!
Po mojem mnenju so se motili.
Ko je Priya slišala dobro novico, je planila v jok.
Bila bi srečnejša, če bi nehal kritizirati moje prijatelje.
Zakaj misliš, da lahko denar ozdravi osamljenost?
Preveč nerodno mu je bilo, da bi še enkrat vprašal za ceno.
Zamisel o novem parku podpira približno 70 % prebivalcev.
Nič me ne moti bolj kot ljudje, ki žvižgajo v dvigalih.
Tišina po prepiru je bila hujša od kričanja.
V Hiroshijevem nasmehu je bilo čutiti kanček žalosti.
Najprej odpusti sebi, potem pa se opraviči drugim.
Čeprav se ne strinjam s skoraj ničimer, kar reče, občudujem, kako zagovarja svoja stališča.
Pri 17 letih sem se sramoval svojih staršev, danes pa sem jim hvaležen za potrpežljivost.
Zakaj čutimo nostalgijo po krajih, v katerih nismo bili nikoli zares srečni?
Mehmet je priznal, da se psov boji, vse odkar ga je eden ugriznil v Izmirju.
Potniki so ob pristanku letala občutili takšno olajšanje, da so objemali popolne neznance.
Nekateri pravijo, da je dolgčas nekoristen, drugi pa ga imajo za začetek vsake dobre zamisli.
Dokler si iskren z mano, ne bom razočarana, ne glede na to, kako se odločiš.
Bila je hkrati navdušena in prestrašena, ko je prispelo pismo s Harvarda, in ga je 2 dni neodprtega nosila v žepu.
Če bi mi pred 10 leti rekel, da bom pogrešal hrup svojih starih sosedov, bi se ti smejal.
Ali iskreno mislite, da naša županja, ki se še nikoli v življenju ni peljala z avtobusom, razume, zakaj se ljudje pritožujejo nad javnim prevozom?
Moj stric je najbolj vesel človek, kar jih poznam, čeprav je izgubil hišo, prihranke in večino sluha, odkar ga je zapustila žena.
Pred vstopom se sezujte.
Kdaj se letos začne ramadan?
Menihi vstajajo pred zoro.
Srečno novo leto, dragi sosedje!
V hiši nikoli ne žvižgamo.
Med praznikom divali na vsakem oknu prižgejo majhne svetilke.
Svatba je trajala 3 dni in povabljena je bila vsa vas.
Zakaj gostje v vaši državi nikoli ne pridejo točno?
Zvonovi katedrale v Krakovu so zazvonili opoldne.
Tukaj velja za nevljudno, če zavrneš skodelico čaja.
Več kot 2000 romarjev je bosih hodilo do svetišča.
V vasi ni duhovnika, le ostarela redovnica.
Moji starši se ob petkih postijo, vendar nas v to ne silijo.
Nevesta je nosila rdečo obleko, ki so jo izvezle njene tete.
V Mehiki družine na dan mrtvih na grobove svojih sorodnikov prinašajo cvetje in hrano.
Po starem običaju najmlajši otrok na sveti večer v kruh skrije kovanec.
Je primerno na pogrebu nositi belo ali naj si sposodim kaj črnega?
Rabin in imam se vsak četrtek dobita na kavi, odkar sta leta 2008 postala soseda.
Če med praznovanjem potrka tujec, mu je treba ponuditi najboljši sedež za mizo.
Tempelj v Kjotu je bil za obiskovalce zaprt, medtem ko so popravljali leseno streho.
Čeprav Lucas ne verjame v Boga, vsako nedeljo poje v cerkvenem zboru.
V noči praznika ribiči svoje čolne okrasijo s papirnatimi lampijoni in prosijo morje, naj bo do pomladi prijazno z njimi.
Ko je Kofi dopolnil 18 let, so mu starešine podarili izrezljano palico in novo ime, ki ga je smel zaupati samo svoji ženi.
Bi lahko pojasnili, zakaj si plesalci zakrijejo obraze z lesenimi maskami in ob koncu zime po ulicah lovijo otroke?
Papež je množico na Trgu svetega Petra prosil, naj moli za žrtve neurja, in več minut ni v tistem ogromnem prostoru nihče spregovoril niti besede.
Krave je treba molsti dvakrat na dan.
So mreže že zakrpane?
Za seboj zaprite vrata ograde!
Sol zelo hitro uniči železo.
Letina je bila slabša od pričakovane.
Jeklarna v Ostravi je nekoč zaposlovala večino moških v mestu.
Koz je 120, pastir pa samo eden.
Oljke lahko dajejo plodove skozi mnoge generacije.
Kako globoko se potapljači spustijo, da naberejo tiste školjke?
Traktor se je pokvaril ravno takrat, ko je začelo deževati.
Vietnam izvozi več riža kot večina njegovih sosed.
Ribiška ladja je iz pristanišča Vigo izplula ob 4:15.
Paradižnika ne zalivajte sredi dneva.
Volno teh ovc perejo, barvajo in predejo ročno.
Če bo zmrzal nastopila, preden bodo jabolka obrana, bodo kmetje izgubili polovico dohodka.
Svetilničar je sporočil, da je v bližini pristanišča videl kita z mladičem.
V sadovnjak so pripeljali čebele iz 30 panjev, da bi oprašile češnje.
Kdo bi si mislil, da je mogoče star premogovnik spremeniti v gobarno?
Kapitan je vsem ukazal, naj ostanejo pod palubo, dokler se valovi ne zmanjšajo.
Odkar je cementarna namestila nove filtre, perilo na našem dvorišču ne posivi več.
Thabo goji koruzo in fižol na zemlji, ki jo je njegova družina leta 1996 dobila nazaj.
Stroj, izdelan v Stuttgartu, lahko na uro razvrsti 5000 krompirjev, vendar še vedno ne loči kamna od zelo umazanega krompirja.
Po razlitju nafte so prostovoljci 9 tednov čistili plaže, medtem ko so znanstveniki šteli morske ptice, ki jim je uspelo preživeti.
Ali naj na strmem pobočju zasadimo gozd ali naj ga pustimo kot travnik, da se bodo imeli konji poleti kje pasti?
Ker se je mlajša generacija preselila v Manilo, morske alge na tej obali zdaj nabirajo predvsem ženske, starejše od 60 let.
Ure merijo čas, ne pa potrpežljivosti.
Kaj pomeni obstajati?
Njenega glasu se ne morem več spomniti.
Živi počasi in razmišljaj globoko.
Včerajšnji dan se že zdi daleč.
Sokrat ni zapustil nobenih spisov, zato smo odvisni od njegovih učencev.
Je lahko človek svoboden, ne da bi bil sam?
Ura na trgu od vojne kaže 9:10.
Bolečine se spominjamo dlje kot ugodja.
Popolnoma nepristranska priča ne obstaja.
Obljuba, ki jo je dal otrok, je še vedno obljuba.
Če je vse vnaprej določeno, si nihče ne zasluži ne hvale ne graje.
Vonj po mokri kredi me popelje nazaj v leto 1985.
Pozabiti žalitev je včasih modreje kot iskati maščevanje.
Filozof iz Aten je trdil, da je užitek dober samo takrat, kadar nikomur ne škoduje, tudi nam samim ne.
Ko sem obiskal svojo staro šolo v Havani, se je vse zdelo manjše, razen mangovca.
Bi bil še vedno isti človek, če bi vse tvoje spomine zamenjali spomini nekoga drugega?
Hannah Arendt se je spraševala, kako lahko običajni ljudje zagrešijo grozljiva dejanja, ne da bi kdaj občutili krivdo.
Starejši ko sem, hitreje minevajo poletja in daljše se mi zdijo zimske noči.
Čeprav nihče ne more izstopiti iz časa, nam glasba včasih daje iluzijo, da nam to uspeva.
Fotografije hranimo zato, da ne bi pozabili, pa vendar jih skoraj nikoli ne pogledamo.
Moj oče, ki je pri 88 letih pozabil večino naših imen, je še vedno znal našteti vse postaje na železniški progi do Odese.
Če ladjo popravljajo tako pogosto, da ne ostane nobena od prvotnih desk, ali lahko iskreno rečemo, da je to še vedno ista ladja?
Fatima pravi, da se same smrti ne boji, da pa bi ji bilo hudo, če bi toliko dobrih pogovorov ostalo nedokončanih in toliko pisem prijateljev brez odgovora.
Učiteljica nam je naročila, naj sedimo v tišini z zaprtimi očmi, in ko je minilo 5 minut, nas je večina verjela, da jih je minilo 15.
